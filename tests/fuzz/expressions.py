"""Random expressions of a type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.language import numbers
from tests.language.numbers import FLOATS, INTEGERS, TYPES

#: Integers that a kernel is likely to go wrong with.
_WHOLE = (
    *(0, 1, 2, 3, 7, 8, 15, 31, 32, 63, 64, 100, 127, 128, 255, 1000, 32767, 65535),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63),
)
_REAL = (0.0, 1.0, 0.5, 0.1, 1.5, 2.5, 3.0, 1e-3, 255.5, 65519.0, 65520.0, 1e10, 2.0**31, 2.0**63, 3e38, 1e-40, 1e300)


@dataclass(frozen=True)
class Callee:
    """A device function of the module."""

    name: str
    arguments: tuple[str, ...]
    result: str


@dataclass
class Scope:
    """What an expression can name.

    Attributes:
        variables: type by name.
        weak: Python numbers in variables: ``i64`` or ``f64``.
        arrays: local arrays, tables and params arrays: type and length.
        read: other expressions with a value: fields of params, typed constants.
    """

    variables: dict[str, str] = field(default_factory=dict)
    weak: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)
    functions: tuple[Callee, ...] = ()

    def copy(self) -> Scope:
        return Scope(dict(self.variables), dict(self.weak), dict(self.arrays), self.read, self.functions)


class Expressions:
    """Text of expressions whose type is known, drawn from `random`."""

    def __init__(self, random: Random, scope: Scope) -> None:
        self.random = random
        self.scope = scope

    def literal(self, kind: str) -> str:
        """A Python number that fits a type."""
        random = self.random
        if kind in FLOATS:
            value = random.choice(_REAL) if random.random() < 0.8 else round(random.uniform(-100, 100), 3)
            if random.random() < 0.2:
                return str(random.randint(-9, 9))
            return repr(-value if random.random() < 0.3 else value)
        low, high = numbers.limits(kind)
        value = random.choice([each for each in _WHOLE if each <= high])
        return str(-value if low and -value >= low and random.random() < 0.4 else value)

    def leaf(self, kind: str) -> str:
        """Something of the type that is there already, else a conversion."""
        scope, random = self.scope, self.random
        found = [name for name, own in scope.variables.items() if own == kind]
        if found and random.random() < 0.8:
            return random.choice(found)
        read = [name for name, own in scope.read.items() if own == kind]
        if read and random.random() < 0.4:
            return random.choice(read)
        if kind == "bool" and not scope.variables:
            return random.choice(["True", "False"])
        if random.random() < 0.25:
            return f"{kind}({self.literal(kind)})" if kind != "bool" else random.choice(["True", "False"])
        return f"{kind}({random.choice([*scope.variables, *scope.variables, *scope.weak] or list(scope.read))})"

    def of(self, kind: str, depth: int) -> str:
        """An expression of the type."""
        if depth <= 0:
            return self.leaf(kind)
        if kind == "bool":
            return self._truth(depth)
        options: list[Callable[[str, int], str]] = [self._arithmetic] * 5 + [self._cast] * 2
        options += [self._choice, self._unary, self._extreme, self._element, self._call, self._bits]
        return self.random.choice(options)(kind, depth)

    def index(self, length: int, depth: int) -> str:
        """An index of an array: an integer whose bits or remainder are in range, or a constant."""
        kind = self.random.choice(INTEGERS)
        if self.random.random() < 0.3:
            return str(self.random.randrange(-length, length))
        return f"{self.of(kind, depth - 1)} % {length}"

    # ---- numbers ----

    def _operands(self, kind: str) -> tuple[str, str]:
        """Two types that meet in this one."""
        if self.random.random() < 0.65:
            return kind, kind
        pairs = [(a, b) for a in TYPES for b in TYPES if numbers.promoted(a, b) == kind and not a == b == "bool"]
        return self.random.choice(pairs)

    def _arithmetic(self, kind: str, depth: int) -> str:
        random = self.random
        if kind in FLOATS:
            operators = ["+", "-", "*", "/", "+", "-", "*", "//", "%"]
        else:
            operators = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]
        if random.random() < 0.06:
            return self._power(kind, depth)
        word = random.choice(operators)
        if kind == "f64" and random.random() < 0.2:
            a, b = random.choice(INTEGERS), random.choice(INTEGERS)
            return f"({self.of(a, depth - 1)} / {self.of(b, depth - 1)})"
        a, b = self._operands(kind)
        if word in ("<<", ">>") and "bool" in (a, b):
            a = b = kind
        left, right = self.of(a, depth - 1), self.of(b, depth - 1)
        if random.random() < 0.3 and a == b == kind:
            number = self._weak(kind)
            left, right = (number, right) if random.random() < 0.3 else (left, number)
        return f"({left} {word} {right})"

    def _power(self, kind: str, depth: int) -> str:
        """Powers that are products: other ones of floats are a function of their own."""
        base = f"({self.of(kind, depth - 1)})"
        if kind in FLOATS:
            return f"({base} ** {self.random.choice([1, 2])})"
        exponents = [each for each in numbers.UNSIGNED if numbers.promoted(kind, each) == kind]
        if exponents and self.random.random() < 0.4:
            return f"({base} ** {self.of(self.random.choice(exponents), depth - 1)})"
        return f"({base} ** {self.random.randint(0, 9)})"

    def _weak(self, kind: str) -> str:
        """A Python number beside one of the type."""
        names = [name for name, held in self.scope.weak.items() if held == "i64" or kind in FLOATS]
        if names and self.random.random() < 0.4:
            return self.random.choice(names)
        return self.literal(kind)

    def _cast(self, kind: str, depth: int) -> str:
        inner = self.of(self.random.choice(TYPES), depth - 1)
        return f"g.cast({inner}, {kind})" if self.random.random() < 0.2 else f"{kind}({inner})"

    def _choice(self, kind: str, depth: int) -> str:
        test, then, otherwise = self.of("bool", depth - 1), self.of(kind, depth - 1), self.of(kind, depth - 1)
        if kind != "bool" and self.random.random() < 0.2:
            otherwise = self._weak(kind)
        if self.random.random() < 0.4:
            return f"g.select({test}, {then}, {otherwise})"
        return f"({then} if {test} else {otherwise})"

    def _unary(self, kind: str, depth: int) -> str:
        inner = self.of(kind, depth - 1)
        words = ["-", "+", "abs", "round"] + ([] if kind in FLOATS else ["~"])
        word = self.random.choice(words)
        return f"{word}({inner})"

    def _extreme(self, kind: str, depth: int) -> str:
        a, b = self._operands(kind)
        if "bool" in (a, b):
            a = b = kind
        parts = [self.of(a, depth - 1), self.of(b, depth - 1)]
        if self.random.random() < 0.3:
            parts.append(self.literal(kind))
        return f"{self.random.choice(['min', 'max'])}({', '.join(parts)})"

    def _element(self, kind: str, depth: int) -> str:
        arrays = [(name, length) for name, (own, length) in self.scope.arrays.items() if own == kind]
        if not arrays:
            return self.leaf(kind)
        name, length = self.random.choice(arrays)
        return f"{name}[{self.index(length, depth)}]"

    def _call(self, kind: str, depth: int) -> str:
        if kind in ("u32", "u64") and self.random.random() < 0.5:
            given = ", ".join(self.of("u64", depth - 1) for _ in range(self.random.choice([2, 3])))
            return f"g.random.{'bits' if kind == 'u32' else 'bits64'}({given})"
        functions = [each for each in self.scope.functions if each.result == kind]
        if not functions:
            return self.leaf(kind)
        callee = self.random.choice(functions)
        return f"{callee.name}({', '.join(self.of(each, depth - 1) for each in callee.arguments)})"

    def _bits(self, kind: str, depth: int) -> str:
        """A bitcast; a NaN's bits are nobody's promise, so a float is looked at first."""
        same = [other for other in (*INTEGERS, *FLOATS) if numbers.bits_of(other) == numbers.bits_of(kind) and other != kind]
        if not same:
            return self.leaf(kind)
        other = self.random.choice(same)
        if other not in FLOATS:
            return f"g.bitcast({self.of(other, depth - 1)}, {kind})"
        names = [name for name, own in self.scope.variables.items() if own == other]
        if not names:
            return self.leaf(kind)
        name = self.random.choice(names)
        return f"g.bitcast({name} if {name} == {name} else {other}(1), {kind})"

    # ---- truth ----

    def _truth(self, depth: int) -> str:
        random = self.random
        way = random.randrange(8)
        if way < 3:
            return self._comparison(depth)
        if way == 3:
            return f"(not {self.of('bool', depth - 1)})"
        if way == 4:
            return f"({self.of('bool', depth - 1)} {random.choice(['and', 'or'])} {self.of('bool', depth - 1)})"
        if way == 5:
            return f"({self.of('bool', depth - 1)} {random.choice(['&', '|', '^', '==', '!='])} {self.of('bool', depth - 1)})"
        if way == 6:
            return f"bool({self.of(random.choice(TYPES), depth - 1)})"
        return self._choice("bool", depth) if random.random() < 0.3 else self.leaf("bool")

    def _comparison(self, depth: int) -> str:
        random = self.random
        kind = random.choice((*INTEGERS, *FLOATS))
        words = ["<", "<=", ">", ">=", "==", "!="]
        left = self.of(kind, depth - 1)
        way = random.random()
        if way < 0.3:
            right = self.literal(kind) if random.random() < 0.7 else str(random.choice(_WHOLE))
        elif way < 0.6:
            right = self.of(random.choice((*INTEGERS, *FLOATS)), depth - 1)
        else:
            right = self.of(kind, depth - 1)
        if random.random() < 0.2:
            return f"({left} {random.choice(words)} {right} {random.choice(words)} {self.of(kind, depth - 1)})"
        return f"({left} {random.choice(words)} {right})"
