"""Each kind of fault in kernel source: its message and its fix, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontend.authoring import HEAD_LINES, faults, only_fault

# A statement inside `def k(d: ptr[f32], n: u64, k: i32, x: f32)` and what is said of it.
STATEMENTS: list[tuple[str, str, str]] = [
    ("try:\n    pass\nexcept ValueError:\n    pass", "'try' is not supported in a kernel", "test for the bad case with if"),
    ("with open('f'):\n    pass", "'with' is not supported in a kernel", "write the statements without it"),
    ("raise ValueError", "'raise' is not supported in a kernel", "write an assert, or store an error code"),
    ("import math", "an import inside a kernel is not supported", "import at the top of the module"),
    ("del x", "'del' is not supported in a kernel", "leave the variable; it costs nothing"),
    ("def inner() -> f32:\n    return 1.0", "a function inside a kernel is not supported", "define it at module level and call it"),
    ("class Inner:\n    pass", "a class inside a kernel is not supported", "define it at module level"),
    ("match k:\n    case 1:\n        pass", "'match' is not supported in a kernel", "write if and elif"),
    (
        "global STATE\nSTATE = 1",
        "'global' is not supported in a kernel: a compiled kernel cannot change module variables",
        "write results to an array",
    ),
    ("y = [x]", "a list is not supported in a kernel", "use g.local(f32, N) for working space, or a module-level tuple"),
    ("y = [x for _ in range(3)]", "a list comprehension is not supported in a kernel", "write a for loop over range"),
    ("y = {1: x}", "a dict is not supported in a kernel", "use a module-level tuple, or an enum"),
    ("y = {x}", "a set is not supported in a kernel", "compare with each value"),
    ("y = f'{x}'", "an f-string is not supported in a kernel", "kernels have no text; return a number or an enum value"),
    ("y = 'text'", "a str is no value to compute with", "use a number, a variable, or an element of an array"),
    ("y = None", "None is not supported in a kernel", "use an integer, a float or a bool"),
    ("y = 1j", "a complex number is not supported in a kernel", "use an integer, a float or a bool"),
    ("y = (lambda: x)()", "a lambda inside a kernel is not supported", "define a function at module level and call it"),
    ("y = (z := x)", "':=' is not supported in a kernel", "assign on a line of its own"),
    ("y = d[0:2]", "a slice is not supported in a kernel", "index single elements in a loop"),
    ("y = d[0, 1]", "a ptr[f32] takes one index", "compute the position: data[row * width + column]"),
    ("y = d[-1]", "index -1 is out of range for a ptr[f32]", "an index counts from 0"),
    ("y = d[x]", "an index is an integer, and this is f32", "write i64(...) around it"),
    ("y = x[0]", "f32 cannot be indexed", "index a ptr, an array, a g.local array, a tuple, a g.table or a fixed array of params"),
    ("y = x.real", "f32 has no attribute 'real'", "only params, modules, enums and g.target have attributes"),
    ("y = k ** k", "the exponent is i32, which may be negative", "write u32(...) around the exponent"),
    ("y = k ** -2", "an integer to the power -2 is no integer", "write f64(...) ** -2"),
    (
        "y = n ** k",
        "no integer type holds all values of both u64 and i32, and the f64 that NumPy takes loses digits",
        "write i64(...) around the u64 operand or write u64(...) around the i32 operand",
    ),
    ("y = (k > 0) ** 2", "`**` does not work on bools", "write i32(...) around the operand"),
    ("y = x @ x", "'@' is not supported in a kernel", "write the loops"),
    ("y = x is x", "'is' is not supported in a kernel", "write == or != comparisons"),
    ("y = k in (1, 2)", "'in' is not supported in a kernel", "write == or != comparisons"),
    ("y = x and x > 0", "'and' needs bools, and this is f32", "write the comparison: x != 0"),
    ("y = x | 1", "`|` works on integers and bool, not on f32", "write i32(...) or another integer type around the f32 operand"),
    ("y = x << 1", "`<<` works on integers, not on f32", "write i32(...) or another integer type around the f32 operand"),
    ("y = ~x", "`~` works on integers and bool, not on f32", "write i32(...) around the operand"),
    ("y = (k > 0) + (k < 9)", "`+` does not work on two bools", "write i32(...) around an operand to count or write `|` for a bool"),
    (
        "y = n + k",
        "no integer type holds all values of both u64 and i32, and the f64 that NumPy takes loses digits",
        "write i64(...) around the u64 operand or write u64(...) around the i32 operand",
    ),
    (
        "y = u8(1) + 300",
        "300 is out of range for u8 (0 to 255)",
        "write u8(300) to wrap it or convert the other operand to a wider type",
    ),
    ("y = 1 // 0", "this cannot be computed: integer division or modulo by zero", "check the numbers"),
    ("y = 1 << 9999", "a shift by 9999 is out of range for a literal", "shift by 0 to 63"),
    ("y = 1 << 70", "the integer 1180591620717411303424 does not fit 64 bits", "write a smaller number, or a float"),
    ("y = missing + 1", "the name 'missing' is not known here", "define it at module level, or assign it first"),
    ("y = STTE", "the name 'STTE' is not known here (did you mean 'STATE'?)", "define it at module level, or assign it first"),
    (
        "y = STATE[0]",
        "'STATE' is a mutable list: a compiled kernel would not see it change",
        "write a tuple, or STATE = g.table(f32, [...])",
    ),
    ("y = OBJECT", "'OBJECT' is a Thing, which a kernel cannot read", "use numbers, tuples, g.table, enums or functions"),
    ("if x > 0:\n    y = x\nd[0] = y", "'y' may have no value here", "assign 'y' before this line on every path"),
    ("y = 0\nwhile x > 0:\n    z = x\nd[0] = z", "'z' may have no value here", "assign 'z' before this line on every path"),
    ("y = x\ny = k", "'y' is f32 elsewhere in this function, and i32 here", "write f32(...), or use another name"),
    ("d = x", "'d' is a ptr[f32] and cannot be assigned", "use another name"),
    ("d[0] = f64(x)", "the element is f32, and this is f64: the conversion could lose digits", "write f32(...) to convert it"),
    ("d[0] = n", "the element is f32, and this is u64: the conversion could lose digits", "write f32(...) to convert it"),
    ("y: i32 = 2.5", "'y' is i32, and this is the number 2.5", "write i32(...) to convert it"),
    ("y: int = 2", "'int' is no scalar type", "write a scalar type such as f32"),
    ("y: i32", "a declaration needs a value", "write y: i32 = ..."),
    ("x.y = 1", "a kernel cannot assign to an attribute: params are read-only", "use a local variable"),
    ("TABLE[0] = x", "a table of 2 cannot be written to", "write results to a ptr argument or a g.local array"),
    ("a, b = x, x, x", "3 values for 2 names", "give each name a value"),
    ("a, b = x", "f32 cannot be unpacked", "write as many values as there are names: a, b = x, y"),
    ("y = 1.0 if x > 0 else k", "the two sides have different types: the number 1.0 and i32", "convert one: f64(...) or i32(...)"),
    ("for i in d:\n    pass", "a for loop in a kernel runs over range", "write for i in range(n):"),
    ("for i, j in range(3):\n    pass", "a for loop in a kernel has one variable", "write for i in range(n):"),
    ("for i in range(0, 3, 0):\n    pass", "the step of 'range' is 0", "write another step"),
    ("for i in range(x):\n    pass", "'range' takes integers, and this is f32", "write i64(...) around it"),
    ("for i in range(k, n):\n    pass", "'range' mixes i32 and u64", "convert one: i32(...) or u64(...)"),
    ("for i in range(n, 0, -1):\n    pass", "-1 does not fit u64, in which this range counts", "write i64(...) around the start"),
    ("for i in range():\n    pass", "'range' takes 1 to 3 arguments, and 0 are given", "write range(n)"),
    (
        "for i in range(3):\n    pass\nelse:\n    x = 1.0",
        "'else' after a loop is not supported in a kernel",
        "set a flag before break and test it",
    ),
    ("return x", "this function returns nothing", "declare the result: def f(...) -> f32, or write a plain return"),
    ("x + 1", "this line computes a value and drops it", "assign it, or remove the line"),
    ("assert x > 0, k", "the message of an assert is a plain string", 'write assert x > 0, "x is positive"'),
    ("print(x)", "'print' is not supported in a kernel", "write values to an array and print them on the host"),
    ("y = int(x)", "'int' has no fixed width", "write i32(...) or i64(...)"),
    ("y = float(k)", "'float' has no fixed width", "write f32(...) or f64(...)"),
    ("y = pow(x, x)", "'pow' is not supported in a kernel", "write the operators: x * x, x // y, x % y"),
    ("y = sum((1, 2))", "'sum' is not supported in a kernel", "write a for loop over range"),
    ("y = len(d)", "a ptr[f32] has no length in a kernel", "pass the length as an argument"),
    ("y = math.sin(x)", "math.sin cannot be compiled for a device", "write g.math.sin"),
    ("y = math.gamma(x)", "math.gamma cannot be compiled for a device", "write it with arithmetic, or as a function of your own"),
    ("y = math.sine(x)", "the module math has no 'sine' (did you mean 'sin'?)", "check the name"),
    ("y = g.math.exp(k)", "'g.math.exp' takes floats, and this is i32", "write f32(...) or f64(...) around it"),
    ("y = g.math.exp(k > 0)", "'g.math.exp' takes floats, and this is bool", "write f32(...) or f64(...) around it"),
    ("y = g.math.exp(x, x)", "'g.math.exp' takes 1 argument, and 2 are given", "check the call"),
    ("y = g.math.expp(x)", "the module gompute.math has no 'expp' (did you mean 'exp'?)", "check the name"),
    ("y = min(x)", "'min' takes at least 2 arguments, and 1 are given", "check the call"),
    ("y = abs(x=x)", "'abs' takes no keyword arguments", "give them by position"),
    ("y = abs(k > 0)", "'abs' of a bool is not supported", "write i32(...) around it"),
    ("y = half(n)", "argument 'x' of 'half' is f32, and this is u64: the conversion could lose digits", "write f32(...) to convert it"),
    ("y = half()", "'half': missing a required argument: 'x'", "its arguments are (x: f32) -> f32"),
    ("y = half(x, y=x)", "'half': got an unexpected keyword argument 'y'", "its arguments are (x: f32) -> f32"),
    ("y = half(*x)", "'*' unpacking is not supported in a kernel", "write each argument"),
    ("y = first(x)", "argument 'd' of 'first' is ptr[f32], and this is f32", "pass an argument of that type on"),
    ("y = nothing(x)", "'nothing' returns nothing", "call it on a line of its own"),
    ("y = other_kernel(x)", "'other_kernel' is a raw kernel; a kernel cannot launch another", "move the shared part into a function"),
    ("y = Params(1.0)", "a kernel cannot make a Params", "pass its values as arguments"),
    ("y = x(1)", "f32 is no function", "call a function by its name"),
    ("y = g.global_id(3)", "the dimension of 'global_id' is 0, 1 or 2, and a constant", "write g.global_id(0)"),
    ("y = g.cast(x, 3)", "the number 3 is no scalar type", "write cast(x, i32)"),
    ("y = g.bitcast(x, u64)", "bitcast from f32 to u64 is not possible", "both need a declared type of one width"),
    (
        "if g.static(x > 0):\n    pass",
        "this condition is not known when the kernel is compiled",
        "use constants and g.target, or a plain if",
    ),
    ("y = g.target.back", "g.target has no 'back' (did you mean 'backend'?)", "it has backend, arch, warp_size, optimize"),
    ("y = Mode.FAS", "Mode has no member 'FAS' (did you mean 'FAST'?)", "check the name"),
    (
        "b = g.local(f32, k)",
        "the length of a local array is a constant from 1 to 65536, or a tuple of such with a product in that range",
        "write g.local(f32, 8)",
    ),
    ("if x > 0:\n    b = g.local(f32, 2)\ny = b[0]", "'b' may have no value here", "assign 'b' before this line on every path"),
    ("b = g.local(f32, 2)\nb = g.local(f32, 3)", "'b' already names something else", "use another name"),
    ("b = g.local(f32, 2)\nb[2] = x", "index 2 is out of range for a local array of 2 f32", "it has 2 elements"),
    ("y = TABLE[5]", "index 5 is out of range for a table of 2", "it has 2 elements"),
    ("y = MIXED[k]", "a tuple indexed by a variable needs numbers of one type", "write g.table(f32, (...)), or a constant index"),
    ("y = (x, x)", "a tuple of values is no value", "assign its elements one by one: a, b = x, y"),
]

MODULE = """
import enum
import math

STATE = [1.0]
TABLE = g.table(f32, [1.0, 2.0])
MIXED = (f32(1.0), i32(2))

class Thing:
    pass

OBJECT = Thing()

class Mode(enum.IntEnum):
    FAST = 1

@g.params
class Params:
    a: f32

def half(x: f32) -> f32:
    return x * 0.5

def first(d: ptr[f32]) -> f32:
    return d[0]

def nothing(x: f32) -> None:
    return

@g.kernel
def other_kernel(d: ptr[f32]):
    d[0] = 1.0

@g.kernel
def kernel(d: ptr[f32], n: u64, k: i32, x: f32):
"""


@pytest.mark.parametrize(("statement", "what", "fix"), STATEMENTS, ids=[s[0].splitlines()[0] for s in STATEMENTS])
def test_a_statement_is_refused_in_these_words(tmp_path: Path, statement: str, what: str, fix: str) -> None:
    body = MODULE + "".join(f"    {line}\n" for line in statement.splitlines())
    assert only_fault(tmp_path, body) == (what, fix)


# A whole declaration and what is said of it.
DECLARATIONS: list[tuple[str, str, str]] = [
    ("@g.map\ndef f(x) -> f32:\n    return x", "argument 'x' has no type", "write x: f32 or another kernel type"),
    (
        "@g.map\ndef f(x: float) -> f32:\n    return x",
        "the type of 'x' is 'float', which is no kernel type",
        "write f32 or f64: 'float' has no fixed width",
    ),
    (
        "@g.map\ndef f(x: 'f23') -> f32:\n    return x",
        "the type of 'x' cannot be resolved: name 'f23' is not defined",
        "import the name, or correct it",
    ),
    (
        "@g.map\ndef f(x: f32):\n    return x",
        "this function returns nothing",
        "declare the result: def f(...) -> f32, or write a plain return",
    ),
    (
        "@g.map\ndef f(x: f32) -> int:\n    return x",
        "the result type is 'int', which is no scalar type",
        "write i32 or i64: 'int' has no fixed width",
    ),
    ("@g.map\ndef f(x: f32) -> f32:\n    if x > 0:\n        return x", "not every path returns a f32", "end each path with a return"),
    ("@g.map\ndef f(x: f32) -> f32:\n    return", "this function returns f32", "return a value"),
    ("@g.map\ndef f(*x: f32) -> f32:\n    return 1.0", "'*x' is not supported in a kernel", "name each argument"),
    ("@g.map\nasync def f(x: f32) -> f32:\n    return x", "'f' is an async function, which cannot be compiled", "write a plain function"),
    ("@g.map\ndef f(x: f32) -> f32:\n    yield x", "'f' is a generator, which cannot be compiled", "write a plain function"),
    (
        "@g.map\ndef f(x: f32) -> f64:\n    return f64(x)",
        "the function of a map returns its element's type f32; this one returns f64",
        "write -> f32",
    ),
    (
        "@g.map\ndef f(x: f32, y: f32) -> f32:\n    return x",
        "the function of a map takes an element and, if needed, params; this one takes (f32, f32)",
        "write def f(x: f32) -> f32, or with a params struct: (x: f32, p: Params) -> f32",
    ),
    (
        "def at() -> u64:\n    return g.global_id(0)\n\n@g.map\ndef f(x: u64) -> u64:\n    return at()",
        "the function of a map sees one element, and no coordinates such as g.global_id",
        "write a raw kernel, @g.kernel, to work with coordinates",
    ),
    (
        "@g.kernel\ndef f(d: ptr[f32]) -> f32:\n    return d[0]",
        "a raw kernel returns nothing",
        "write results to a ptr argument, and remove the result type",
    ),
    ("@g.kernel\ndef f():\n    pass", "a raw kernel without arguments has no effect", "give it a ptr argument to write to"),
    (
        "@g.map(block_size=4096)\ndef f(x: f32) -> f32:\n    return x",
        "block_size=4096 has 4096 work-items; every target allows at most 1024",
        "write block_size=256",
    ),
    ("@g.map(block_size=0)\ndef f(x: f32) -> f32:\n    return x", "block_size=0 must be an int from 1", "write block_size=256"),
    (
        "@g.kernel(block_size=(64, 64))\ndef f(d: ptr[f32]):\n    d[0] = 1.0",
        "block_size=(64, 64) has 4096 work-items; every target allows at most 1024",
        "write block_size=256",
    ),
    (
        "@g.map(name='a b')\ndef f(x: f32) -> f32:\n    return x",
        "'a b' is no kernel name",
        'write a C identifier such as name="scale_relu"',
    ),
    ("f = g.map(name='f')(lambda x: x)", "argument 'x' has no type", "write a def: a lambda has no place for a type"),
    ("@g.map(name=3)\ndef f(x: f32) -> f32:\n    return x", "name=3 is no text", 'write a C identifier such as name="scale_relu"'),
    (
        "@g.map(name='z' * 256)\ndef f(x: f32) -> f32:\n    return x",
        "the kernel name zzzzzzzzzzzzzzzzzzzz... has 256 letters, and 255 are allowed",
        'write a C identifier such as name="scale_relu"',
    ),
    (
        "@g.map(name='WARP_SZ')\ndef f(x: f32) -> f32:\n    return x",
        "'WARP_SZ' is no kernel name",
        'write a C identifier such as name="scale_relu"',
    ),
    (
        "@g.map\ndef f(x: f32) -> f32:\n    return x\n\n@g.map(name='f')\ndef h(x: f32) -> f32:\n    return x",
        "the root 'root' has two kernels named 'f'",
        'give one another name: name="..."',
    ),
    (
        (
            "def even(x: f32) -> f32:\n    return odd(x)\n\ndef odd(x: f32) -> f32:\n    return even(x)\n\n"
            "@g.map\ndef f(x: f32) -> f32:\n    return odd(x)"
        ),
        "recursion is not supported in a kernel: odd -> even -> odd",
        "write a loop",
    ),
    (
        "@g.map_to\ndef f(x: f32) -> None:\n    return",
        "the function of a map_to returns the output's element; this one returns nothing",
        "write -> f32",
    ),
    (
        "@g.map_to\ndef f(x: f32, n: i32) -> f64:\n    return 1.0",
        "the function of a map_to takes an element and, if needed, params; this one takes (f32, i32)",
        "write def f(x: f32) -> f64, or with a params struct: (x: f32, p: Params) -> f64",
    ),
    (
        "@g.zip\ndef f(x: f32) -> f32:\n    return x",
        "the function of a zip takes two or more elements and, if needed, params; this one takes (f32)",
        "write def f(x: f32, y: f32) -> f32, or with a params struct: (x: f32, y: f32, p: Params) -> f32",
    ),
    (
        f"@g.zip\ndef f({', '.join(f'x{i}: f32' for i in range(27))}) -> f32:\n    return x0",
        "a zip takes at most 26 arrays; this one takes 27",
        "split it into two kernels",
    ),
    (
        "@g.zip\ndef f(x: ptr[f32], y: f32) -> f32:\n    return y",
        "the function of a zip takes two or more elements and, if needed, params; this one takes (ptr[f32], f32)",
        "write def f(x: f32, y: f32) -> f32, or with a params struct: (x: f32, y: f32, p: Params) -> f32",
    ),
    (
        "@g.zip\ndef f(x: u64, y: u64) -> u64:\n    return g.global_id(0)",
        "the function of a zip sees one element, and no coordinates such as g.global_id",
        "write a raw kernel, @g.kernel, to work with coordinates",
    ),
    (
        "@g.map_indexed\ndef f(x: f32, i: i32) -> f32:\n    return x",
        "the function of a map_indexed takes an element, its index (u64) and, if needed, params; this one takes (f32, i32)",
        "write def f(x: f32, i: u64) -> f32, or with a params struct: (x: f32, i: u64, p: Params) -> f32",
    ),
    (
        "@g.map_indexed\ndef f(x: f32, i: u64) -> u64:\n    return i",
        "the function of a map_indexed returns its element's type f32; this one returns u64",
        "write -> f32",
    ),
    ('f = g.fused("f")', "a fused kernel without parts has no effect", 'write g.fused("both", scale, square)'),
    (
        'def a(x: f32, y: f32) -> f32:\n    return x\n\nf = g.fused("f", a)',
        "a part takes an element and, if needed, params, and returns an element; 'a' takes (f32, f32) and returns f32",
        "write def a(x: f32) -> f32, or with a params struct: (x: f32, p: Params) -> f32",
    ),
    (
        'def a(x: f32) -> i32:\n    return i32(x)\n\ndef b(x: f32) -> f32:\n    return x\n\nf = g.fused("f", a, b)',
        "'a' gives i32, and 'b' after it takes f32",
        "put a part between them that returns f32(x)",
    ),
    (
        'def a(x: f32) -> f64:\n    return f64(x)\n\nf = g.fused("f", a)',
        "a fused kernel works in place: it starts with f32, and its last part 'a' gives f64",
        "add a part that returns f32(x)",
    ),
    (
        (
            "@g.params\nclass P:\n    w: f32\n\n@g.params\nclass Q:\n    w: f32\n\n"
            "def a(x: f32, p: P) -> f32:\n    return x * p.w\n\ndef b(x: f32, p: Q) -> f32:\n    return x + p.w\n\n"
            'f = g.fused("f", a, b)'
        ),
        "the parts of a fused kernel share one params type; 'a' takes P, and 'b' Q",
        "give them one @g.params class with the fields of both",
    ),
    (
        'def at(x: u64) -> u64:\n    return g.global_id(0)\n\nf = g.fused("f", at)',
        "the function of a fused sees one element, and no coordinates such as g.global_id",
        "write a raw kernel, @g.kernel, to work with coordinates",
    ),
    ('pick = g.gather("pick", f32, f64)', "the index of a gather is an integer, and this is f64", 'write g.gather("pick", f32, u32)'),
    ('put = g.scatter("put", u8, bool)', "the index of a scatter is an integer, and this is bool", 'write g.scatter("put", u8, u32)'),
    (
        'pick = g.gather("a b", f32, u32)',
        "'a b' is no kernel name",
        'write a C identifier such as name="scale_relu"',
    ),
    ('put = g.scatter("put", f32, u32, block_size=(8, 8))', "block_size=(8, 8) must be an int from 1", "write block_size=256"),
    (
        'pick = g.gather("pick", f32, u32)\n\n@g.map\ndef f(x: f32) -> f32:\n    return pick(x)',
        "'pick' is a gather kernel, which has no function of its own",
        "index the array: data[i]",
    ),
    (
        'def a(x: f32) -> f32:\n    return x\n\nboth = g.fused("both", a, a)\n\n@g.map\ndef f(x: f32) -> f32:\n    return both(x)',
        "'both' is a fused kernel, which has no function of its own",
        "call its parts one after the other",
    ),
    (
        "@g.params\nclass P:\n    a: list[f32]\n\n@g.map\ndef f(x: f32, p: P) -> f32:\n    return x",
        "P.a: a container (list[f32]) has no fixed size",
        "write fixed[f32, N]",
    ),
    (
        "@g.params\nclass Q:\n    w: str\n\n@g.params\nclass P:\n    inner: Q\n\n@g.map\ndef f(x: f32, p: P) -> f32:\n    return x",
        "P.inner.w: text (str) cannot cross to the device",
        "use an IntEnum for a choice, or fixed[u8, N] for bytes",
    ),
    (
        "@g.params\nclass P:\n    scale: f32\n\n@g.map\ndef f(x: f32, p: P) -> f32:\n    return x * p.scal",
        "P has no field 'scal' (did you mean 'scale'?)",
        "it has scale",
    ),
]


@pytest.mark.parametrize(("body", "what", "fix"), DECLARATIONS, ids=[d[1] for d in DECLARATIONS])
def test_a_declaration_is_refused_in_these_words(tmp_path: Path, body: str, what: str, fix: str) -> None:
    assert only_fault(tmp_path, body) == (what, fix)


def test_a_fault_shows_place_line_caret_and_fix(tmp_path: Path) -> None:
    text = faults(tmp_path, "@g.map\ndef f(x: f32) -> f32:\n    return x >> x\n")
    assert text == (
        f"root.py:{HEAD_LINES + 3}:12: `>>` works on integers, not on f32\n"
        "        return x >> x\n"
        "               ^~~~~~\n"
        "  write i32(...) or another integer type around the f32 operand"
    )


def test_columns_count_characters(tmp_path: Path) -> None:
    text = faults(tmp_path, "@g.map\ndef f(größe: f32) -> f32:\n    return größe >> größe\n")
    assert f"root.py:{HEAD_LINES + 3}:12: " in text
    assert "\n               ^~~~~~~~~~~~~~\n" in text


def test_every_fault_of_a_module_is_reported_at_once_in_order(tmp_path: Path) -> None:
    body = """
    @g.map
    def first(x: f32) -> f32:
        y = x >> x
        if missing:
            z = [1]
        return y

    @g.map(block_size=9999)
    def second(x) -> f32:
        return x
    """
    text = faults(tmp_path, body)
    lines = [int(line.split(":")[1]) for line in text.splitlines() if line.startswith("root.py:")]
    assert lines == sorted(lines)
    assert len(lines) == 5
    assert text.endswith("\n\n5 faults in root.py")


def test_a_use_of_a_faulty_result_is_no_second_fault(tmp_path: Path) -> None:
    text = faults(tmp_path, "@g.map\ndef f(x: f32) -> f32:\n    y = x >> x\n    z = y + 1\n    return z\n")
    assert text.count("root.py:") == 1


def test_all_operands_of_an_expression_are_checked(tmp_path: Path) -> None:
    text = faults(
        tmp_path, "@g.map\ndef f(x: f32) -> f32:\n    y = one + two\n    return three(x) + max(four, five) + (six if x > seven else 8)\n"
    )
    assert [word for word in "one two three four five seven".split() if f"the name '{word}' is not known" not in text] == []


@pytest.mark.parametrize(
    "statement",
    [
        "import math",
        "class A:\n        pass",
        "def A() -> f32:\n        return 1.0",
        "if (A := x) > 3:\n        pass",
        "with x as A:\n        pass",
    ],
)
def test_a_name_that_a_refused_statement_would_bind_is_no_second_fault(tmp_path: Path, statement: str) -> None:
    name = "math" if "math" in statement else "A"
    text = faults(tmp_path, f"@g.map\ndef f(x: f32) -> f32:\n    {statement}\n    return {name} + x\n")
    assert text.count("root.py:") == 1, text


def test_a_very_long_line_is_not_shown(tmp_path: Path) -> None:
    text = faults(tmp_path, f"@g.map\ndef f(x: f32) -> f32:\n    return {' + '.join(['x'] * 300)} + missing\n")
    assert len(text) < 200
    assert "the name 'missing' is not known here" in text


def test_faults_in_a_function_of_another_module_name_that_file(tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text("from gompute import f32\n\ndef bad(x: f32) -> f32:\n    return x >> x\n")
    text = faults(tmp_path, "import shared\n\n@g.map\ndef f(x: f32) -> f32:\n    return shared.bad(x)\n")
    assert text.startswith("shared.py:4:12: ")


def test_a_fault_of_a_declaration_by_call_shows_the_call(tmp_path: Path) -> None:
    text = faults(tmp_path, 'pick = g.gather(\n    "pick", f32, f32\n)\nput = [g.scatter("put", f32, bool) for _ in range(1)]\n')
    assert text == (
        f"root.py:{HEAD_LINES + 1}:8: the index of a gather is an integer, and this is f32\n"
        "    pick = g.gather(\n"
        "           ^~~~~~~~~\n"
        '  write g.gather("pick", f32, u32)\n'
        "\n"
        f"root.py:{HEAD_LINES + 4}:8: the index of a scatter is an integer, and this is bool\n"
        '    put = [g.scatter("put", f32, bool) for _ in range(1)]\n'
        "           ^~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        '  write g.scatter("put", f32, u32)\n'
        "\n"
        "2 faults in root.py"
    )
