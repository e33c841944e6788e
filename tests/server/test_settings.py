"""Settings come from four places, the stronger wins, and whatever is wrong is said at once without a secret."""

import base64
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.errors import StartRefused
from chatd.core.secret import Secret
from chatd.server.settings import SETTINGS, LoadedSettings, Settings, SettingsRefused, load_settings, settings_markdown

KEY = base64.b64encode(bytes(range(32))).decode()
OTHER_KEY = base64.b64encode(bytes(32)).decode()

Load = Callable[..., LoadedSettings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(environ: Mapping[str, str] | None = None, **flags: object) -> LoadedSettings:
        return load_settings(environ=environ or {}, flags=flags, cwd=tmp_path)

    return load


def problems(load: Load, environ: Mapping[str, str] | None = None, **flags: object) -> tuple[str, ...]:
    with pytest.raises(SettingsRefused) as refused:
        load(environ, **flags)
    return refused.value.problems


def value_of(loaded: LoadedSettings, name: str) -> str:
    return next(row.value for row in loaded.describe() if row.name == name)


def test_without_anything_the_defaults_hold(load: Load, tmp_path: Path):
    loaded = load()
    assert loaded.settings == Settings(
        data_dir=tmp_path / ".chatd",
        public_url="http://127.0.0.1:7080",
        allowed_hosts=("127.0.0.1", "localhost", "[::1]"),
    )
    assert set(loaded.origins.values()) == {"default"}


def test_a_flag_beats_the_environment_which_beats_the_file(load: Load, tmp_path: Path):
    (tmp_path / "chatd.toml").write_text("port = 1\npool_size = 2\nreplicas = 3\n")
    loaded = load({"CHATD_PORT": "11", "CHATD_POOL_SIZE": "12"}, port="21")
    assert (loaded.settings.port, loaded.settings.pool_size, loaded.settings.replicas) == (21, 12, 3)
    origins = loaded.origins
    assert (origins["port"], origins["pool_size"]) == ("--port", "CHATD_POOL_SIZE")
    assert origins["replicas"] == str(tmp_path / "chatd.toml")
    assert origins["host"] == "default"


def test_flags_without_a_value_are_not_given(load: Load):
    assert load(port=None, config=None).settings.port == 7080


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_a_file_can_be_named_and_then_it_is_the_only_one(load: Load, tmp_path: Path, how: str):
    (tmp_path / "chatd.toml").write_text("port = 1\n")
    (tmp_path / "other.toml").write_text("replicas = 2\n")
    loaded = load(config="other.toml") if how == "flag" else load({"CHATD_CONFIG": "other.toml"})
    assert (loaded.settings.port, loaded.settings.replicas) == (7080, 2)


def test_the_file_in_the_data_directory_is_used_when_there_is_none_here(load: Load, tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "chatd.toml").write_text("port = 5\n")
    assert load({"CHATD_DATA_DIR": "data"}).settings.port == 5
    (tmp_path / "chatd.toml").write_text("port = 6\n")
    assert load({"CHATD_DATA_DIR": "data"}).settings.port == 6


def test_the_file_in_the_data_directory_can_not_name_another_one(load: Load, tmp_path: Path):
    (tmp_path / ".chatd").mkdir()
    (tmp_path / ".chatd" / "chatd.toml").write_text("data_dir = 'elsewhere'\n")
    assert "can't be set in the file that is found by it" in problems(load)[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"port = ", "is not valid TOML (at end of document)"),
        (b"\xff\xfe", "is not valid TOML"),
        (b"port = 99999", "port = 99999: must be a whole number from 0 to 65535"),
        (b"port = true", "port = True: must be a whole number"),
        (b"prot = 1", "prot = 1: is not a setting. Did you mean port?"),
        (b"[server]\nport = 1", "server = {'port': 1}: is not a setting. Known are host, port"),
        (b"allowed_hosts = ['a', 1]", "(item 2 is not: it is not a text)"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_what_is_wrong(load: Load, tmp_path: Path, text: bytes, said: str):
    path = tmp_path / "chatd.toml"
    path.write_bytes(text)
    [problem] = problems(load)
    assert problem.startswith(f"{path}: ")
    assert said in problem


def test_a_named_file_that_does_not_exist_is_refused(load: Load, tmp_path: Path):
    assert problems(load, config="no.toml") == (f"--config: there is no file {tmp_path / 'no.toml'}",)
    for name in ("no.toml", "~nobody-at-all/chatd.toml", "x" * 5000, "."):
        assert problems(load, {"CHATD_CONFIG": name})[0].startswith("CHATD_CONFIG: there is no file")


def test_relative_paths_start_here_and_in_a_file_from_its_folder(load: Load, tmp_path: Path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "chatd.toml").write_text("data_dir = '../data'\n")
    assert load(config="etc/chatd.toml").settings.data_dir == tmp_path / "data"
    assert load({"CHATD_DATA_DIR": "data"}).settings.data_dir == tmp_path / "data"


def test_all_problems_are_reported_at_once(load: Load, tmp_path: Path):
    (tmp_path / "chatd.toml").write_text("replicas = 65\n")
    found = problems(load, {"CHATD_PORT": "99999", "CHATD_NOPE": "1", "CHATD_LOG_LEVEL": "loud"}, body_limit=1)
    assert len(found) == 5
    assert "CHATD_PORT=99999: must be a whole number from 0 to 65535" in found


def test_the_refusal_is_one_text_for_the_operator(load: Load):
    with pytest.raises(StartRefused) as refused:
        load({"CHATD_PORT": "99999"})
    assert refused.value.message == ("A setting is wrong:\n  CHATD_PORT=99999: must be a whole number from 0 to 65535")


def test_a_value_that_is_overridden_must_be_fit_too(load: Load):
    assert "CHATD_PORT=x" in problems(load, {"CHATD_PORT": "x"}, port=80)[0]


@pytest.mark.parametrize(
    ("variable", "raw", "said"),
    [
        ("CHATD_PORT", "", "(it is empty; leave it out for the default)"),
        ("CHATD_PORT", "80 80", "must be a whole number"),
        ("CHATD_PORT", "٣", "must be a whole number"),
        ("CHATD_PORT", "1e3", "must be a whole number"),
        ("CHATD_HOST", "http://here", "without scheme and port"),
        ("CHATD_HOST", "a b", "without scheme and port"),
        ("CHATD_REPLICAS", "0", "from 1 to 64"),
        ("CHATD_LOG_FORMAT", "TEXT", "must be auto, text or json"),
        ("CHATD_PUBLIC_URL", "chat.example.com", "http:// or https://"),
        ("CHATD_PUBLIC_URL", "https://", "the host is missing"),
        ("CHATD_PUBLIC_URL", "https://x?y=1", "must end before ? and #"),
        ("CHATD_PUBLIC_URL", "https://x/chatd", "nothing is served under a path"),
        ("CHATD_RELAY_URL", "http://x:7081", "tls://"),
        ("CHATD_EXPERIMENTS", "agents,nope", "each agents (item 2 is not)"),
        ("CHATD_EXPERIMENTS", "agents,agents", "item 2 is there twice"),
        ("CHATD_ALLOWED_HOSTS", "", "it is empty"),
        ("CHATD_ALLOWED_HOSTS", "a,,b", "item 2 is not: it is empty"),
        ("CHATD_ALLOWED_HOSTS", "https://a", "each a host name"),
        ("CHATD_TRUSTED_PROXIES", "10.0.0.1/8", "10.0.0.0/8 is the network"),
        ("CHATD_TRUSTED_PROXIES", "proxy", "CIDR"),
        ("CHATD_POSTGRES_BINARIES", "/no/such/folder", "must be a folder that exists"),
        ("CHATD_POSTGRES_BINARIES", "x" * 5000, "File name too long"),
        ("CHATD_DATA_DIR", "~nobody-at-all/x", "home directory"),
        ("CHATD_OUTBOUND_CA", "no.pem", "No such file"),
        ("CHATD_BOOTSTRAP_ADMIN_EMAIL", "ada", "an email address"),
        ("CHATD_DATA_DIR", "a\nb", "can't be printed"),
        ("CHATD_HOST", "x" * 20_000, "longer than"),
    ],
)
def test_an_unfit_value_is_refused_with_what_is_allowed(load: Load, variable: str, raw: str, said: str):
    found = [problem for problem in problems(load, {variable: raw}) if problem.startswith(f"{variable}=")]
    assert len(found) == 1
    assert "must be" in found[0]
    assert said in found[0]


@pytest.mark.parametrize(
    ("variable", "raw"),
    [
        ("CHATD_DATABASE_URL", "mysql://ada:hunter2@db/x"),
        ("CHATD_DATABASE_URL", "postgres://ada:hunter2@db:port/x"),
        ("CHATD_HINTS_URL", "redis://:hunter2@there"),
        ("CHATD_HINTS_URL", "nats://ok,tls://:hunter2@"),
        ("CHATD_ENCRYPTION_KEYS", f"{KEY},hunter2"),
        ("CHATD_ENCRYPTION_KEYS", f"{KEY},{KEY}"),
        ("CHATD_BOOTSTRAP_ADMIN_PASSWORD", "hunter2"),
        ("CHATD_OUTBOUND_PROXY", "socks://ada:hunter2@proxy"),
        ("CHATD_PUBLIC_URL", "https://ada:hunter2@chat.example.com"),
        ("CHATD_DATABASE_UR", "hunter2"),
        ("CHATD_ADMIN_PASSWORD", "hunter2"),
        ("CHATD_ENCRYPTION_KEY", "hunter2"),
        ("CHATD_PROVIDER_TOKEN", "hunter2"),
        ("CHATD_WHATEVER", "https://ada:hunter2@there"),
    ],
)
def test_a_refused_secret_is_never_shown(load: Load, variable: str, raw: str):
    found = problems(load, {variable: raw})
    assert any(problem.startswith(f"{variable}=") for problem in found)
    assert "hunter2" not in "".join(found)
    assert KEY not in "".join(found)


def test_an_unknown_variable_is_refused_with_the_nearest_name(load: Load):
    assert problems(load, {"CHATD_PUBLC_URL": "http://x"}) == (
        "CHATD_PUBLC_URL=http://x: is not a setting. Did you mean CHATD_PUBLIC_URL?",
    )
    assert "Known are CHATD_HOST, CHATD_PORT" in problems(load, {"CHATD_QQQ": "1"})[0]
    assert problems(load, {"CHATD_port": "1"})[0].endswith("Did you mean CHATD_PORT?")


def test_an_unknown_flag_is_refused(load: Load):
    assert problems(load, prt=1) == ("--prt 1: is not a setting. Did you mean --port?",)


@pytest.mark.parametrize("name", ["encryption_keys", "bootstrap_admin_password"])
def test_keys_and_passwords_have_no_flag(load: Load, name: str):
    found = problems(load, {}, **{name: "hunter2-hunter2"})
    assert "is not a setting" in found[0]
    assert "hunter2" not in found[0]


def test_our_other_variables_and_those_of_others_are_left_alone(load: Load):
    others = ("CHATD_TEST_LONG", "CHATD_TOKEN", "CHATD_URL", "PATH", "CHATDX")
    assert load(dict.fromkeys(others, "x")).origins["port"] == "default"


def test_what_kubernetes_sets_for_a_service_named_chatd_is_explained(load: Load):
    linked = {
        "CHATD_PORT": "tcp://10.0.0.1:7080",
        "CHATD_SERVICE_HOST": "10.0.0.1",
        "CHATD_PORT_7080_TCP_ADDR": "10.0.0.1",
    }
    found = problems(load, linked)
    assert len(found) == 3
    assert all("enableServiceLinks: false" in problem for problem in found)


def test_lists_come_with_commas_or_as_toml_arrays(load: Load, tmp_path: Path):
    listed = load({"CHATD_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7", "CHATD_EXPERIMENTS": ""}).settings
    assert listed.trusted_proxies == ("10.0.0.0/8", "192.0.2.7/32")
    assert listed.experiments == ()
    (tmp_path / "chatd.toml").write_text("allowed_hosts = ['*.Example.com', '[::1]']\nexperiments = []\n")
    listed = load().settings
    assert listed.allowed_hosts == ("*.example.com", "[::1]")
    assert listed.experiments == ()


@pytest.mark.parametrize(
    ("flags", "url", "first_host"),
    [
        ({"host": "0.0.0.0"}, "http://localhost:7080", "localhost"),  # noqa: S104
        ({"host": "::1", "port": 80}, "http://[::1]:80", "[::1]"),
        ({"host": "[::]"}, "http://localhost:7080", "localhost"),
        ({"port": 0}, None, "localhost"),
        ({"public_url": "https://Chat.example.com/"}, "https://Chat.example.com", "chat.example.com"),
    ],
)
def test_the_public_url_and_the_allowed_hosts_follow_from_the_rest(
    load: Load, flags: dict[str, object], url: str | None, first_host: str
):
    settings = load(**flags).settings
    assert settings.public_url == url
    assert settings.allowed_hosts[0] == first_host
    assert {"localhost", "127.0.0.1", "[::1]"} <= set(settings.allowed_hosts)
    assert "*" not in settings.allowed_hosts


def test_allowed_hosts_that_are_given_are_the_only_ones(load: Load):
    assert load({"CHATD_ALLOWED_HOSTS": "*"}).settings.allowed_hosts == ("*",)


def test_the_first_owner_needs_address_and_password(load: Load):
    both = {"CHATD_BOOTSTRAP_ADMIN_EMAIL": "ada@example.com", "CHATD_BOOTSTRAP_ADMIN_PASSWORD": " long enough to do "}
    settings = load(both).settings
    assert settings.bootstrap_admin_password == Secret(" long enough to do ")
    for name, value in both.items():
        assert problems(load, {name: value})[0].endswith("set both or neither")


def test_the_common_proxy_variable_is_used_unless_ours_is_set(load: Load):
    common = {"HTTPS_PROXY": "proxy.example:3128"}
    assert load(common).settings.outbound_proxy == Secret("http://proxy.example:3128")
    assert load(common).origins["outbound_proxy"] == "HTTPS_PROXY"
    ours = load({**common, "CHATD_OUTBOUND_PROXY": "http://ours:1"})
    assert ours.settings.outbound_proxy == Secret("http://ours:1")
    assert load({"HTTPS_PROXY": ""}).settings.outbound_proxy is None


def test_a_common_proxy_variable_that_can_not_be_used_is_ignored_and_noted(load: Load):
    loaded = load({"HTTPS_PROXY": "socks5h://ada:hunter2@proxy"})
    assert loaded.settings.outbound_proxy is None
    row = next(row for row in loaded.describe() if row.name == "outbound_proxy")
    assert row.value == "the variable HTTPS_PROXY, else none"
    assert row.origin == "default (HTTPS_PROXY is ignored: it is not a URL that starts with http:// or https://)"
    ours = load({"HTTPS_PROXY": "socks5h://proxy", "CHATD_OUTBOUND_PROXY": "http://ours:1"})
    assert ours.origins["outbound_proxy"] == "CHATD_OUTBOUND_PROXY"


@pytest.mark.parametrize("variable", ["NO_PROXY", "no_proxy"])
def test_the_hosts_of_the_common_variable_are_asked_without_the_proxy_unless_ours_is_set(load: Load, variable: str):
    # As it is found in the wild: with spaces, nothing between two commas, and the same host twice.
    common = {variable: "localhost, .corp.example,,10.0.0.0/8 Vllm:8000,localhost,[fd00::1]:80,fe80::/10,*.a_b"}
    loaded = load(common)
    hosts = ("localhost", ".corp.example", "10.0.0.0/8", "vllm:8000", "[fd00::1]:80", "fe80::/10", "*.a_b")
    assert loaded.settings.outbound_no_proxy == hosts
    assert loaded.origins["outbound_no_proxy"] == variable
    ours = load({**common, "CHATD_OUTBOUND_NO_PROXY": "*"})
    assert ours.settings.outbound_no_proxy == ("*",)
    assert load({}).settings.outbound_no_proxy == ()


@pytest.mark.parametrize("raw", ["http://vllm", "a b", "vllm:http", "ada@vllm"])
def test_a_host_that_no_request_can_have_is_refused_for_requests_without_the_proxy(load: Load, raw: str):
    assert "a host name with those below it" in problems(load, {"CHATD_OUTBOUND_NO_PROXY": raw})[0]
    assert "NO_PROXY is ignored" in load({"NO_PROXY": "http://vllm"}).origins["outbound_no_proxy"]


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("database_url", "postgresql://ada:hunter2@db/chatd"),
        ("database_url", "postgresql://ada:12/hunter2@db/chatd"),
        ("database_url", "postgresql://db/chatd?user=ada&password=hunter2"),
        ("database_url", "postgresql://[hunter2"),
        ("hints_url", "nats://hunter2@nats:4222"),
        ("hints_url", "nats://one,nats://ada:hunter2@two"),
        ("outbound_proxy", "http://ada:hunter2@proxy:3128"),
    ],
)
def test_a_password_is_refused_in_a_flag_and_taken_elsewhere(load: Load, name: str, raw: str):
    [problem] = problems(load, {}, **{name: raw})
    assert f"put it into CHATD_{name.upper()} or a file" in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("database_url", "postgresql://ada@db/chatd?sslmode=require"),
        ("database_url", "postgresql:///chatd?host=/run/postgresql"),
        ("hints_url", "nats://one:4222,tls://two"),
        ("outbound_proxy", "http://proxy:3128"),
    ],
)
def test_a_url_without_a_password_may_be_a_flag(load: Load, name: str, raw: str):
    assert getattr(load({}, **{name: raw}).settings, name) == Secret(raw)


def test_certificates_must_be_certificates(load: Load, tmp_path: Path):
    (tmp_path / "noise.pem").write_text("noise")
    assert "certificates in PEM form" in problems(load, {"CHATD_OUTBOUND_CA": "noise.pem"})[0]
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    make += ["-subj", "/CN=test", "-keyout", "key.pem", "-out", "ca.pem"]
    subprocess.run(make, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert load({"CHATD_OUTBOUND_CA": "ca.pem"}).settings.outbound_ca == tmp_path / "ca.pem"


@pytest.mark.parametrize(
    ("variable", "raw", "shown"),
    [
        ("CHATD_DATABASE_URL", "postgres://ada:hunter2@db:5432/chatd?password=x", "postgres://•••@db:5432/chatd?•••"),
        ("CHATD_DATABASE_URL", "postgresql:///chatd?host=/run/postgresql", "•••"),
        ("CHATD_DATABASE_URL", "postgres://ada:12/hunter2@db/chatd", "•••"),
        ("CHATD_HINTS_URL", "nats://hunter2@one,tls://two:4222", "nats://•••@one,tls://two:4222"),
        ("CHATD_OUTBOUND_PROXY", "http://ada:hunter2@proxy:3128", "http://•••@proxy:3128"),
        ("CHATD_ENCRYPTION_KEYS", f"{KEY},{OTHER_KEY}", "•••, •••"),
    ],
)
def test_printing_masks_what_is_secret_and_shows_the_host_of_urls(load: Load, variable: str, raw: str, shown: str):
    loaded = load({variable: raw})
    name = variable.removeprefix("CHATD_").lower()
    assert value_of(loaded, name) == shown
    assert "hunter2" not in repr(loaded)
    assert loaded.origins[name] == variable


def test_printing_says_what_happens_without_a_value(load: Load):
    assert value_of(load(), "database_url") == "an embedded Postgres in data_dir"
    assert value_of(load({"CHATD_EXPERIMENTS": ""}), "experiments") == "none"


def test_every_setting_is_in_the_documentation_with_its_names_and_default():
    page = settings_markdown()
    for spec in SETTINGS:
        section = page.split(f"\n## {spec.name}\n")[1].split("\n## ")[0]
        for text in (spec.help, spec.env, spec.flag or "", spec.allowed, spec.default_text):
            assert text in section
        assert spec.secret == ("A secret." in section)


def test_every_default_is_a_value_that_would_be_accepted(load: Load):
    for row in load().describe():
        spec = next(spec for spec in SETTINGS if spec.name == row.name)
        if isinstance(spec.default, int | str | Path):
            assert spec.kind.parse(spec.default, Path("/")) is not None


texts = st.text() | st.sampled_from(
    ["", "*", "1", "a,b", "http://[", "nats://", "postgres://@", "~x/y", "[::1]", "\x00", "tcp://1.2.3.4:5", KEY, "/"]
)
toml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=5,
)
names = st.sampled_from([spec.name for spec in SETTINGS]) | texts


def refusals(environ: Mapping[str, str], flags: Mapping[str, object], cwd: Path) -> tuple[str, ...]:
    try:
        load_settings(environ=environ, flags=flags, cwd=cwd)
    except SettingsRefused as refused:
        return refused.problems
    return ()


@given(
    environ=st.dictionaries(names.map(lambda name: "CHATD_" + name.upper()), texts),
    flags=st.dictionaries(names, toml_values),
)
def test_no_input_does_anything_but_load_or_be_refused(environ: dict[str, str], flags: dict[str, object]):
    found = refusals(environ, flags, Path("/no/such/folder"))
    assert all(problem.isprintable() for problem in found)


lines = st.dictionaries(names, texts).map(lambda table: "\n".join(f"{name} = {text!r}" for name, text in table.items()))


@given(text=st.binary(max_size=200) | lines.map(lambda text: text.encode(errors="replace")))
def test_no_file_does_anything_but_load_or_be_refused(tmp_path_factory: pytest.TempPathFactory, text: bytes):
    folder = tmp_path_factory.mktemp("settings")
    (folder / "chatd.toml").write_bytes(text)
    assert all(problem.isprintable() for problem in refusals({}, {}, folder))


@pytest.mark.behaviour("STATE-5")
@pytest.mark.parametrize(
    ("raw", "taken"),
    [
        ("1", 1),
        ("25", 25),
        ("0", 1),
        ("-3", 1),
        ("2147483647", 2147483647),
        ("2147483648", 2147483647),
        ("9" * 4000, 2147483647),
        ("-" + "9" * 4000, 1),
    ],
)
def test_a_batch_size_that_is_out_of_range_counts_as_the_nearest_in_it(load: Load, raw: str, taken: int):
    assert load({"CHATD_CHAT_ACQUIRE_BATCH_SIZE": raw}).settings.chat_acquire_batch_size == taken


@pytest.mark.parametrize("raw", ["many", "", "1.5", "1e3", "--1"])
def test_a_batch_size_that_is_no_number_is_refused(load: Load, raw: str):
    assert "must be a whole number" in problems(load, {"CHATD_CHAT_ACQUIRE_BATCH_SIZE": raw})[0]


@pytest.mark.behaviour("STATE-5")
@pytest.mark.parametrize(
    "text", ["chat.acquire_batch_size = 3\n", "[chat]\nacquire_batch_size = 3\n", "chat = {acquire_batch_size = 3}\n"]
)
def test_the_batch_size_stands_in_a_table_of_the_file(load: Load, tmp_path: Path, text: str):
    (tmp_path / "chatd.toml").write_text(text)
    assert load().settings.chat_acquire_batch_size == 3
    assert load().origins["chat_acquire_batch_size"] == str(tmp_path / "chatd.toml")
    assert load({"CHATD_CHAT_ACQUIRE_BATCH_SIZE": "4"}).settings.chat_acquire_batch_size == 4


@pytest.mark.behaviour("STATE-5")
def test_a_batch_size_in_the_file_is_brought_into_range_too(load: Load, tmp_path: Path):
    (tmp_path / "chatd.toml").write_text("chat.acquire_batch_size = 99999999999999999999\n")
    assert load().settings.chat_acquire_batch_size == 2147483647


def test_the_batch_size_is_ten_and_capacities_have_no_limit_unless_someone_says_so(load: Load):
    settings = load().settings
    assert settings.chat_acquire_batch_size == 10
    assert (settings.chat_root_capacity, settings.chat_child_capacity) == (None, None)
    given = load({"CHATD_CHAT_ROOT_CAPACITY": "8", "CHATD_CHAT_CHILD_CAPACITY": "4"}).settings
    assert (given.chat_root_capacity, given.chat_child_capacity) == (8, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chat.acquire_batch = 3", "chat.acquire_batch = 3: is not a setting. Did you mean chat.acquire_batch_size?"),
        ("chat_acquire_batch_size = 3", "is not a setting. Did you mean chat.acquire_batch_size?"),
        ("chat.root_capacity = 0", "chat.root_capacity = 0: must be a whole number from 1"),
        ("chat = 3", "chat = 3: is not a setting."),
    ],
)
def test_what_is_wrong_in_a_table_is_named_with_it(load: Load, tmp_path: Path, text: str, said: str):
    (tmp_path / "chatd.toml").write_text(text)
    assert said in problems(load)[0]
