"""A shell command without the `&` at its end: it is run in the background by whoever runs it, not by the shell.

Only an `&` that the shell itself would take for "in the background", and that nothing but blanks and comments follow,
is taken off. One that belongs to `&&`, `|&`, `&>` or `2>&1`, that is quoted, escaped, in a comment or in a
here-document stays; and so does every command whose reading differs between shells or that is not finished.
"""

from typing import Final, NoReturn

import msgspec

_BLANKS: Final = " \t"
_OPERATORS: Final = ("<<-", "&>>", ";;&", "&&", "||", ";;", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "|&", ";&")
_SINGLE: Final = ";&|<>()\n"
_REDIRECTS: Final = frozenset({"<", ">", ">>", "<&", ">&", "<>", ">|", "&>", "&>>", "<<", "<<-"})
# After these a command begins; after other words its arguments follow.
_OPENERS: Final = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "!"})


class Foreground(msgspec.Struct, frozen=True):
    """The command to run, and whether it was to run in the background."""

    command: str
    was_background: bool


def without_background(command: str) -> Foreground:
    """Take a trailing `&` off. All else of the command stays as it is written."""
    try:
        place = _Reader(command).trailing_ampersand()
    except (_Unclear, RecursionError):
        place = None
    if place is None:
        return Foreground(command, False)
    return Foreground(
        (command[:place] + command[place + 1 :]).rstrip(" \t\n" if _is_blank(command, place) else ""), True
    )


def _is_blank(command: str, place: int) -> bool:
    """Whether nothing follows, so that the blanks before need not stay; an escaped one has to."""
    return not command[place + 1 :].strip() and "\\" not in command[max(0, place - 2) : place]


class _Unclear(Exception):
    """Not finished, or not read alike by all shells."""


class _Reader:
    """Reads a command once from the left, as far as it takes to know what is quoted and what is not."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._documents: list[tuple[str, bool]] = []  # the here-documents that begin at the next newline

    def trailing_ampersand(self) -> int | None:
        last, before = self._commands(closer="")
        return (
            last[1]
            if last[0] == "&" and before not in _REDIRECTS | {"", "\n", "&", ";", "|", "&&", "||", "("}
            else None
        )

    def _commands(self, closer: str) -> tuple[tuple[str, int], str]:
        """Read up to the closing character of a substitution, or to the end.

        The last token that counts and its place, and the token before it: newlines and comments at the end don't count.
        """
        last, before = ("", 0), ""
        newline = False
        cases: list[str] = []  # of the `case` statements that are open: "subject", "pattern" or "body"
        parentheses = 0
        starts_command = True
        while (place := self._next_token()) is not None:
            token = self._token()
            if token == "\n":
                newline = True
                starts_command = starts_command or not cases or cases[-1] != "subject"
                continue
            if token == ")" and cases and cases[-1] == "pattern":
                cases[-1], starts_command = "body", True
            elif token == ")" and not parentheses and closer == ")":
                return last, before
            elif token in ("(", ")"):
                if not (token == "(" and cases and cases[-1] == "pattern"):
                    parentheses += 1 if token == "(" else -1
                starts_command = token == "("
            elif cases and cases[-1] in ("subject", "pattern") and token not in _SINGLE:
                self._in_case(cases, token)
                starts_command = False
            elif token in (";;", ";&", ";;&") and cases:
                cases[-1] = "pattern"
            elif token in _REDIRECTS:
                self._redirect(token)
                token = "word"
            elif token == "case" and starts_command:
                cases.append("subject")
            elif token == "esac" and starts_command and cases:
                cases.pop()
                starts_command = False
            else:
                starts_command = token in ("&", "&&", "||", "|", "|&", ";") or (starts_command and token in _OPENERS)
            before = "\n" if newline else last[0]
            last, newline = (token, place), False
        if closer:
            self._unclear()
        return last, before

    def _in_case(self, cases: list[str], word: str) -> None:
        if word == "esac" and cases[-1] == "pattern":
            cases.pop()
        elif word == "in" and cases[-1] == "subject":
            cases[-1] = "pattern"

    def _next_token(self) -> int | None:
        """Skip blanks, comments and joined lines; where the next token begins."""
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter in _BLANKS:
                self._at += 1
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            elif letter == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return self._at
        return None

    def _token(self) -> str:
        """An operator as it is, a newline, or a word: as it is where nothing in it is quoted, else "word"."""
        letter = self._text[self._at]
        if letter == "\n":
            self._at += 1
            self._skip_documents()
            return "\n"
        if letter in _SINGLE:
            return self._operator()
        begin = self._at
        self._word()
        word = self._text[begin : self._at]
        return word if word.replace("_", "").isalnum() or word in ("{", "}", "!") else "word"

    def _operator(self) -> str:
        ahead, ends = "", list[int]()
        at = self._at
        while at < len(self._text) and len(ahead) < 3:  # a joined line may lie within
            if self._text.startswith("\\\n", at):
                at += 2
                continue
            ahead += self._text[at]
            at += 1
            ends.append(at)
        if ahead == "<<<":
            self._unclear()  # a here-string, which not all shells have
        found = next((operator for operator in _OPERATORS if ahead.startswith(operator)), ahead[0])
        self._at = ends[len(found) - 1]
        return found

    def _redirect(self, operator: str) -> None:
        place = self._next_token()
        if place is None or self._text[place] in _SINGLE:
            self._unclear()
        self._word()
        if operator in ("<<", "<<-"):
            written = self._text[place : self._at]
            if "$" in written or "`" in written or "\n" in written:
                self._unclear()
            self._documents.append((_unquoted(written), operator == "<<-"))

    def _skip_documents(self) -> None:
        for delimiter, tabs in self._documents:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self._documents.clear()

    def _word(self) -> None:
        while self._at < len(self._text) and (letter := self._text[self._at]) not in _SINGLE + _BLANKS:
            match letter:
                case "\\":
                    self._escaped()
                case "'":
                    self._single_quotes()
                case '"':
                    self._double_quotes()
                case "$":
                    self._dollar(quoted=False)
                case "`":
                    self._backquotes()
                case _:
                    self._at += 1

    def _escaped(self) -> None:
        if self._at + 1 >= len(self._text):
            self._unclear()
        self._at += 2

    def _single_quotes(self) -> None:
        self._at = self._find("'", self._at + 1)

    def _double_quotes(self) -> None:
        self._at += 1
        while (letter := self._letter()) != '"':
            match letter:
                case "\\":
                    self._escaped()
                case "$":
                    self._dollar(quoted=True)
                case "`":
                    self._backquotes()
                case _:
                    self._at += 1
        self._at += 1

    def _dollar(self, *, quoted: bool) -> None:
        self._at += 1
        if self._text.startswith("'", self._at) and not quoted:
            if "\\" in self._text[self._at : self._find("'", self._at + 1)]:
                self._unclear()  # $'it\'s' is one word to some shells
        elif self._text.startswith("((", self._at):
            self._arithmetic()
        elif self._text.startswith("(", self._at):
            self._at += 1
            self._commands(closer=")")
        elif self._text.startswith("{", self._at):
            self._braces(quoted=quoted)

    def _arithmetic(self) -> None:
        depth = 0
        while True:
            letter = self._letter()
            match letter:
                case "$":
                    self._dollar(quoted=True)
                    continue
                case '"':
                    self._double_quotes()
                    continue
                case "`":
                    self._backquotes()
                    continue
                case "'" | "\\" | "#":
                    self._unclear()
                case _:
                    pass
            depth += {"(": 1, ")": -1}.get(letter, 0)
            self._at += 1
            if depth == 1 and letter == ")" and self._letter() != ")":
                self._unclear()  # a subshell within a substitution
            if depth == 0:
                return

    def _braces(self, *, quoted: bool) -> None:
        self._at += 1
        while (letter := self._letter()) != "}":
            match letter:
                case "\\":
                    self._escaped()
                case "'" | '"' if quoted:
                    self._unclear()  # what quotes mean in here differs
                case "'":
                    self._single_quotes()
                case '"':
                    self._double_quotes()
                case "$":
                    self._dollar(quoted=quoted)
                case "`":
                    self._backquotes()
                case _:
                    self._at += 1
        self._at += 1

    def _backquotes(self) -> None:
        self._at += 1
        while self._letter() != "`":
            self._at += 2 if self._letter() == "\\" else 1
        self._at += 1

    def _letter(self) -> str:
        if self._at >= len(self._text):
            self._unclear()
        return self._text[self._at]

    def _find(self, letter: str, begin: int) -> int:
        """The place after the next such letter."""
        end = self._text.find(letter, begin)
        if end < 0:
            self._unclear()
        return end + 1

    def _unclear(self) -> NoReturn:
        raise _Unclear


def _unquoted(word: str) -> str:
    """The delimiter of a here-document as it stands at its end."""
    plain, quote, at = "", "", 0
    while at < len(word):
        letter = word[at]
        if quote:
            quote, plain = ("", plain) if letter == quote else (quote, plain + letter)
        elif letter in "'\"":
            quote = letter
        elif letter == "\\" and at + 1 < len(word):
            at += 1
            plain += word[at]
        else:
            plain += letter
        at += 1
    return plain
