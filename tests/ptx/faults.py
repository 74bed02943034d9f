"""What the interpreter refuses."""

from __future__ import annotations


class PtxError(Exception):
    """The text is no PTX that this interpreter knows, or running it does something that a GPU leaves undefined."""


class Unknown(PtxError):
    """An instruction, modifier, directive or state space that is not known here."""


class Undefined(PtxError):
    """Undefined behaviour: an access outside memory, a register that was never written, a division by zero."""


class Deadlock(PtxError):
    """Threads wait for others that never come."""


class Trapped(PtxError):
    """A thread executed ``trap``."""
