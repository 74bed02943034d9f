"""The same device model compiled by gompute to PTX, by nvcc to PTX, and by Zig to LLVM IR for nvptx64, each a whole process with nothing
cached.

Run: python checks/bench/model_peers.py            (nvcc and Zig come with gompute[cubin] and gompute[compiler])

Zig goes as far as it can: its IR still has the exponentials and logarithms that the NVPTX code generator does not know.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from pathlib import Path

from build_time import find_nvcc
from device_model import model_source
from measure import command_version, interleaved, package_version, print_table, run_process

C = {
    "head": "#include <math.h>\nstruct Model {{ double {fields}; }};\n",
    "field": "p{}",
    "helper": "static __device__ double limited(double x) { return fmin(fmax(x, -40.0), 40.0); }\n",
    "kernel": 'extern "C" __global__ void {name}(const double *from, double *to, Model p, unsigned long long n) {{\n'
    "  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  double x = from[i];\n",
    "result": "  to[i] = {};\n}}\n",
    "variable": "  double {} = {};\n",
    "later": "  double {};\n",
    "choice": "({test} ? {then} : {other})",
    "exp": "exp",
    "log": "log",
    "pow": "pow(",
    "abs": "fabs",
}
ZIG = {
    "head": 'const std = @import("std");\npub const panic = std.debug.no_panic;\nconst Model = extern struct {{ {fields} }};\n',
    "field": "p{}: f64",
    "helper": "fn limited(x: f64) f64 { return @min(@max(x, -40.0), 40.0); }\n",
    "kernel": "export fn {name}(from: [*]addrspace(.global) const f64, to: [*]addrspace(.global) f64, p: Model, n: u64)"
    " callconv(.nvptx_kernel) void {{\n"
    "  const i: u64 = @as(u64, @workGroupId(0)) * @workGroupSize(0) + @workItemId(0);\n  if (i >= n) return;\n  const x = from[i];\n",
    "result": "  to[i] = {};\n}}\n",
    "variable": "  const {0} = {1};\n  _ = &{0};\n",  # Zig refuses what nobody reads
    "later": "  var {}: f64 = undefined;\n",
    "choice": "(if ({test}) {then} else {other})",
    "exp": "@exp",
    "log": "@log",
    "pow": "std.math.pow(f64, ",
    "abs": "@abs",
}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Lt: "<", ast.Gt: ">"}


def translated(source: str, words: dict[str, str]) -> str:
    """A model of device_model.py in another language."""

    def value(node: ast.expr) -> str:
        match node:
            case ast.BinOp(left, operator, right):
                return f"({value(left)} {OPERATORS[type(operator)]} {value(right)})"
            case ast.Compare(left, [operator], [right]):
                return f"{value(left)} {OPERATORS[type(operator)]} {value(right)}"
            case ast.IfExp(test, then, other):
                return words["choice"].format(test=value(test), then=value(then), other=value(other))
            case ast.Call(ast.Attribute(_, "pow"), [base, power]):
                return f"{words['pow']}{value(base)}, {value(power)})"
            case ast.Call(ast.Attribute(_, name) | ast.Name(name), [argument]):
                return f"{words.get(name, name)}({value(argument)})"
        return ast.unparse(node)

    def statement(node: ast.stmt, declared: bool = False) -> str:
        match node:
            case ast.Assign([ast.Name(name)], given):
                return f"  {name} = {value(given)};\n" if declared else words["variable"].format(name, value(given))
            case ast.If(test, [*then], [*other]):
                names = dict.fromkeys(part.targets[0].id for part in then)  # type: ignore[attr-defined]
                before = "".join(words["later"].format(name) for name in names)
                inner = ("".join(statement(part, True) for part in body) for body in (then, other))
                return f"{before}  if ({value(test)}) {{\n{next(inner)}  }} else {{\n{next(inner)}  }}\n"
            case ast.Return(ast.expr() as given):
                return words["result"].format(value(given))
        raise SystemExit(f"no such line in a model: {ast.unparse(node)}")

    made = ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            fields = ", ".join(words["field"].format(number) for number in range(len(node.body)))
            made += words["head"].format(fields=fields) + words["helper"]
        elif isinstance(node, ast.FunctionDef) and node.name != "limited":
            made += words["kernel"].format(name=node.name) + "".join(map(statement, node.body))
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    nvcc = find_nvcc()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for operations in arguments.operations:
            source = model_source(operations)
            (folder / "model.py").write_text(source)
            (folder / "model.cu").write_text(translated(source, C))
            (folder / "model.zig").write_text(translated(source, ZIG))
            zig = [sys.executable, *"-m ziglang build-obj model.zig -target nvptx64-cuda-none -mcpu sm_89 -OReleaseFast".split()]
            zig += "-fno-emit-bin -femit-llvm-ir=zig.ll --cache-dir zig-cache --global-cache-dir zig-cache".split()
            build = [sys.executable, *"-m gompute build model.py -t sm_89 --no-cache -o out".split()]
            contenders = {
                "nvcc -ptx": run_process([nvcc, "-ptx", "-arch=sm_89", "-fmad=false", "model.cu", "-o", "nvcc.ptx"], folder),
                "gompute build": run_process(build, folder),
                # Zig takes what it has built before, so there must be nothing.
                "zig, to LLVM IR": run_process(["sh", "-c", 'rm -rf zig-cache; exec "$@"', "sh", *zig], folder),
            }
            versions = {
                "nvcc -ptx": command_version([nvcc], -2),
                "gompute build": f"{package_version('gompute')}, {package_version('llvmlite')}",
                "zig, to LLVM IR": package_version("ziglang"),
            }
            print(f"\n{operations} operations")
            print_table(interleaved(contenders, arguments.rounds, warm=1), "nvcc -ptx", versions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
