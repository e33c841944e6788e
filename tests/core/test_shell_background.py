"""The `&` at the end of a command, against real shells."""

import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chatd.core.shell_background import without_background

TAKEN_OFF = {
    "sleep 5 &": "sleep 5",
    "sleep 5&": "sleep 5",
    "sleep 5 & \n\n": "sleep 5",
    "sleep 5 & # for later": "sleep 5  # for later",
    "sleep 5 &# later &": "sleep 5 # later &",
    "a && b &": "a && b",
    "a & b &": "a & b",
    "a | b 2>&1 &": "a | b 2>&1",
    "a > out 2>&1 &": "a > out 2>&1",
    "(a; b) &": "(a; b)",
    "{ a; b; } &": "{ a; b; }",
    "while a; do b; done &": "while a; do b; done",
    "case x in a) b & ;; esac &": "case x in a) b & ;; esac",
    "echo $(case x in (a) b;; c) d;; esac) &": "echo $(case x in (a) b;; c) d;; esac)",
    "echo \"$(case x in a) echo 'y)';; esac)\" &": "echo \"$(case x in a) echo 'y)';; esac)\"",
    "echo 'it' \"is $(date) `date`\" ${x:-'a}'} $((1<<2)) &": "echo 'it' \"is $(date) `date`\" ${x:-'a}'} $((1<<2))",
    "cat <<EOF &\nbody &\nEOF\n": "cat <<EOF \nbody &\nEOF\n",
    "cat <<-'E F' &\n\tbody\n\tE F": "cat <<-'E F' \n\tbody\n\tE F",
    "echo a\\ &": "echo a\\ ",
    "echo \\\\&": "echo \\\\",
    "echo case&": "echo case",
    "echo a#b &": "echo a#b",
    "case x in a) b; esac &": "case x in a) b; esac",
    "( case x in a) b;; esac ) &": "( case x in a) b;; esac )",
    "echo \"$( (case x in a) b;; esac) ; echo ')' )\" &": "echo \"$( (case x in a) b;; esac) ; echo ')' )\"",
    "case x in a) case y in b) c;; esac;; d) e;; esac &": "case x in a) case y in b) c;; esac;; d) e;; esac",
    "echo $x $ &": "echo $x $",
    'echo $(("1"+`b`+$x)) &': 'echo $(("1"+`b`+$x))',
    'echo ${x:-\\}} ${x:-"}"} ${x:-$y} ${x:-`b`} &': 'echo ${x:-\\}} ${x:-"}"} ${x:-$y} ${x:-`b`}',
    'echo "${x:-\\}}" "${x:-$y}" &': 'echo "${x:-\\}}" "${x:-$y}"',
    "sleep 5 \\\n&": "sleep 5 \\\n",
}
LEFT_ALONE = [
    "",
    "&",
    "a",
    "a &&",
    "a && b",
    "a &\\\n& b",
    "a |&",
    "a |& b",
    "a &> out",
    "a &>> out",
    "a 2>&1",
    "a >&",
    "a 2>&",
    "echo '&'",
    'echo "a &"',
    "echo \\&",
    "echo a\\\\\\&",
    "echo a # &",
    "echo a; # b &",
    "a & b",
    "a & ;",
    "a ; &",
    "a\n&",
    "a > &",
    "(a &)",
    "{ a & }",
    "if a; then b & fi",
    "echo $(a &)",
    "echo `a &`",
    "echo ${x:-&}",
    "echo $((1 &",
    "cat <<EOF\nfoo &",
    "cat <<EOF\nfoo &\nEOF",
    "cat <<EOF\nEOF\ncat <<'A'\n&\n",
    "echo 'open &",
    'echo "open &',
    "echo $(open &",
    "echo `open &",
    "cat <<< a &",
    "cat <<$x &\n$x",
    "echo $(('1')) &",
    "echo \"${x:-'a'}\" &",
    "echo $((a); (b)) &",
    "echo ${open &",
    "echo $'it\\'s' &",
    "echo \\",
]


@pytest.mark.behaviour("PROC-6")
@pytest.mark.parametrize(("command", "left"), TAKEN_OFF.items())
def test_an_ampersand_at_the_end_is_taken_off(command: str, left: str):
    taken = without_background(command)

    assert taken.was_background
    assert taken.command == left


@pytest.mark.behaviour("PROC-6")
@pytest.mark.parametrize("command", LEFT_ALONE)
def test_any_other_ampersand_is_left_alone(command: str):
    taken = without_background(command)

    assert not taken.was_background
    assert taken.command == command


WORDS = [
    "a",
    "b1",
    "'x&'",
    '"y&z"',
    "\\&",
    "\\\\",
    "'",
    '"',
    "$(a&)",
    "$(b)",
    "`c&`",
    "${x:-&}",
    "$((1&2))",
    "$(($x+1))",
    "case",
    "in",
    "esac",
    "if",
    "then",
    "fi",
    "do",
    "done",
    "while",
    "{",
    "}",
    "#",
    "a#",
    "#c&",
    "$x",
    "$!",
    '"$(a&)"',
    "2",
    "!",
    "&'",
    "1>&2",
]
SPACED = [
    "\\ ",
    "\\\n",
    "'x & y'",
    '"y & z"',
    "$(a; b &)",
    '"$(a "b" &)"',
    '"$(case x in a) b;; esac)"',
    "$(case x in (a) b;; esac)",
]
OPERATORS = ["&", "&", "&&", "||", "|", ";", ";;", "(", ")", "\n", ">", ">>", "<", "2>&1", ">&2", " ", "  ", "\t"]
_words = st.sampled_from(WORDS + SPACED)
_soup = st.lists(st.one_of(_words, _words.map(" {} ".format), st.sampled_from(OPERATORS)), max_size=14).map("".join)

# Commands that are mostly valid, with all that can stand around an `&`.
_simple = st.lists(_words, min_size=1, max_size=3).map(" ".join).map("a {}".format)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    separators = st.sampled_from([" & ", "; ", "\n", " && ", " || ", " | ", " &\n", "&", " & # c\n", " 2>&1 | "])
    return st.one_of(
        st.builds("{}{}{}".format, inner, separators, inner),
        st.builds(
            str.format, st.sampled_from(["({})", "( {} & )", "{{ {} & }}", "{{ {}; }}", "! {}", "f() {{ {}; }}"]), inner
        ),
        st.builds("if {}; then {} & fi".format, inner, inner),
        st.builds("while {}; do {}; done".format, inner, inner),
        st.builds("case x in a|b) {};; (c) {} & ;; esac".format, inner, inner),
        st.builds("( case x in a) {}; esac )".format, inner),
        st.builds('echo $({}) "$({} &)"'.format, inner, inner),
    )


_ends = st.sampled_from(
    [
        "",
        " &",
        "&",
        " & ",
        "&\n\n",
        " & # c",
        " &# c &",
        " # c &",
        " \\&",
        " &&",
        " >&2 &",
        " \\\n&",
        "\\ &",
        ";",
        " & a",
    ]
)
_grammar = st.builds("{}{}".format, st.recursive(_simple, _compound, max_leaves=4), _ends)
_commands = st.one_of(_soup, _grammar, _grammar, _grammar)


def _is_valid(shell: str, command: str) -> bool:
    checked = subprocess.run([shell, "-n", "-c", command], capture_output=True, stdin=subprocess.DEVNULL)
    return checked.returncode == 0 and not checked.stderr


def _bash_backgrounds(command: str) -> bool:
    """What bash has understood, printed by itself: one command a line, without comments."""
    program = f"f () {{\n{command}\n}}\ndeclare -f f"
    printed = subprocess.run(["bash", "--posix", "-c", program], capture_output=True, text=True)
    assume(printed.returncode == 0 and printed.stdout.endswith("\n}\n"))
    return printed.stdout.removesuffix("\n}\n").rstrip().endswith(" &")


@pytest.mark.behaviour("PROC-6")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to ask")
@settings(max_examples=250, deadline=None)
@given(_commands)
def test_what_is_taken_off_is_what_a_shell_takes_for_background(command: str):
    taken = without_background(command)
    if not taken.was_background:
        assert taken.command == command
    if "&" not in command:
        assert not taken.was_background
        return
    assume(command.strip() and _is_valid("sh", command) and _is_valid("bash", command))

    if taken.was_background:
        assert _bash_backgrounds(command)
        assert _is_valid("sh", taken.command)
    elif "$((" not in command:  # arithmetic, or a subshell: it is left alone where that is not clear
        assert not _bash_backgrounds(command)


def _background_runs(command: str) -> bool:
    """Whether running it leaves the shell with a background process: a command with one `&` that counts."""
    program = 'eval "$1" >/dev/null 2>&1\necho "last=${!:-none}"'
    ran = subprocess.run(["sh", "-c", program, "sh", command], capture_output=True, text=True, timeout=30)
    assert ran.returncode == 0, ran.stderr
    return "last=none" not in ran.stdout


_bodies = st.sampled_from(["one &\n", "EOF &\n", " EOF\n", "\tEOF\n", "$(x &)\n", "it's &\n", '"\n', "&\n", "", "`\n"])
_leaves = st.sampled_from(
    [":", "true", ": '&'", ': "a & b"', ": \\&", ": a#b", "(:)", "{ :; }", "case a in b) :;; esac"]
)


@pytest.mark.behaviour("PROC-6")
@settings(max_examples=60, deadline=None)
@given(
    leaf=_leaves,
    document=st.sampled_from(["", "<<EOF", "<<'EOF'", "<<-EOF", "<<\\EOF"]),
    ampersand=st.sampled_from(["", " &", "&", " 2>&1", " 2>&1 &", " && :", " && : &", " \\\n&"]),
    comment=st.sampled_from(["", " # c &", " # it's"]),
    body=st.lists(_bodies, max_size=3).map("".join),
    after=st.sampled_from(["", "\n", "\n# &\n", "\n\n"]),
)
def test_running_it_in_a_shell_agrees(leaf: str, document: str, ampersand: str, comment: str, body: str, after: str):
    end = f"\n{body}EOF" if document else ""
    command = f"{leaf} {document}{ampersand}{comment}{end}{after}"
    assume(_is_valid("sh", command))
    assume(not (document == "<<-EOF" and "\tEOF" in body))  # the document would end there, and more commands follow

    taken = without_background(command)
    assert taken.was_background == _background_runs(command)
    assert not _background_runs(taken.command)
