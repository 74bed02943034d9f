"""What decides each kernel of a root on its own, so that an edit of one is no reason to check the others again.

The body of a kernel is a part of that kernel alone where nothing else can have got hold of it: its import can leave it out (see
`gompute.frontend.outline`), and the function's name stands nowhere else in any source. All other text decides every kernel, as the import
of the module may make of it whatever it likes.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from unicodedata import normalize

from gompute.frontend.outline import Body, Outline
from gompute.frontend.reads import Reads
from gompute.frontend.source import Sources
from gompute.lang.spec import KernelSpec

__all__ = ["kernel_digests"]

_WORD = re.compile(r"\w+")
_SEPARATORS = {number: " " for number in range(128) if not _WORD.fullmatch(chr(number))}
# With one of these a module may reach what no name leads to.
_REFLECTION = frozenset(
    "__dict__ __file__ __getattribute__ __globals__ __import__ __loader__ __spec__ _getframe ast attrgetter dir dis eval exec gc getattr "
    "globals importlib inspect linecache locals methodcaller pickle sys traceback vars".split()
)


def kernel_digests(file: str, specs: Sequence[KernelSpec], sources: Sources, reads: Reads, *, lines: bool) -> dict[str, str]:
    """A hash for each kernel of all that decides its IR but for the compiler and its options, by name; none where that cannot be told.

    Args:
        file: the root's module.
        reads: what the import has read.
        lines: the IR says in which lines of the source it was written.
    """
    if reads.unknown is not None:
        return {}
    root = sources.read(file)
    if reads.sources.get(file) != sources.hashes[file]:
        return {}
    texts = [_text(path, digest) for path, digest in reads.sources.items() if path != file]
    if None in texts:
        return {}
    words: Counter[str] = Counter()
    for text in (root.text, *texts):
        words.update(_words(text or ""))
    if not _REFLECTION.isdisjoint(words):
        return {}
    own = _own_bodies(file, root.outline, specs, words)
    # Where lines are of no account, comments and empty ones are not either.
    kept: Sequence[str | None] = root.lines if lines else root.bare
    rest: list[str | None] = []
    done = 0
    for left_out in sorted(own.values(), key=lambda body: body.first):
        rest += kept[done : left_out.first - 1]
        rest.append(f"\0{left_out.last - left_out.first if lines else ''}")
        done = left_out.last
    rest += kept[done:]
    shared = repr([sorted(reads.sources.items() - {(file, reads.sources[file])}), reads.files, reads.folders, reads.absent, _joined(rest)])
    base = hashlib.sha256(shared.encode("utf-8", "surrogateescape"))
    digests: dict[str, str] = {}
    for spec in specs:
        made, body = base.copy(), own.get(spec.name)
        lines_of_it = [] if body is None else kept[body.first - 1 : body.last]
        made.update(_joined(["", spec.name, *lines_of_it]).encode("utf-8", "surrogateescape"))
        digests[spec.name] = made.hexdigest()
    return digests


def _joined(lines: Sequence[str | None]) -> str:
    return "\n".join(line for line in lines if line is not None)


def _text(path: str, digest: str) -> str | None:
    """The text of a source as it was when it was imported; None where it has changed since."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return data.decode("utf-8", "replace") if hashlib.sha256(data).hexdigest() == digest else None


def _own_bodies(file: str, outline: Outline | None, specs: Sequence[KernelSpec], words: Mapping[str, int]) -> dict[str, Body]:
    """Each body that is a part of one kernel alone, by the kernel's name."""
    if outline is None:
        return {}
    makers = Counter(function.__code__ for spec in specs for function in spec.functions)
    found: dict[str, Body] = {}
    for spec in specs:
        if len(spec.functions) != 1 or makers[spec.functions[0].__code__] != 1:
            continue
        code = spec.functions[0].__code__
        body = outline.bodies.get(code.co_firstlineno)
        if code.co_filename == file and body is not None and body.name == code.co_name and words[body.name] == 1:
            found[spec.name] = body
    return found


def _words(text: str) -> Iterable[str]:
    if text.isascii():
        return text.translate(_SEPARATORS).split()
    return _WORD.findall(normalize("NFKC", text))  # Python takes names that look different for one where Unicode does
