"""A kernel root shaped like a compact device model, made from a seed: straight-line functions of many operations over f64, with branches,
exp, log and pow, and dozens of parameters.

Run: python checks/bench/device_model.py --kernels 64 --operations 500 > model.py

With --integers a fifth of the lines index a table or a fixed array, divide or shift integers, or assert: what a `safe` build checks.
"""

from __future__ import annotations

import argparse
import random
import sys

__all__ = ["model_source"]

_PARAMETERS = 40
_HEADER = '"""Made by device_model.py."""\n\nimport gompute as g\nfrom gompute import f64\n'
_TABLE = "\nSTEPS = g.table(f64, [0.125 * n for n in range(64)])\n"
_HELPER = "\n\ndef limited(x: f64) -> f64:\n    return min(max(x, -40.0), 40.0)\n"


def _kernel(name: str, operations: int, seed: int, integers: bool) -> str:
    """One map. Each line takes what a few lines before it gave, so that nothing can be folded or dropped; values stay finite."""
    pick = random.Random(f"{seed} {name}")
    lines: list[str] = []
    done = number = 0

    def value() -> str:
        return f"v{pick.randrange(max(0, number - 16), number)}" if number else "x"

    def line(text: str, count: int, indent: str = "    ") -> None:
        nonlocal done, number
        lines.append(f"{indent}v{number} = {text}")
        number += 1
        done += count

    while done < operations:
        parameter = f"p.p{pick.randrange(_PARAMETERS)}"
        if integers and not pick.randrange(5):
            whole = f"i32(limited({value()}))"
            match pick.randrange(5):
                case 0:
                    line(f"STEPS[{whole} + 40] + {value()} * 0.5" if number else "STEPS[3]", 4)
                case 1:
                    line(f"p.weights[{whole} & 7] * {value()}", 4)
                case 2:
                    line(f"f64({whole} // i32(limited({value()}) + 41.0)) * 0.5 + {parameter}", 5)
                case 3:
                    line(f"f64((1 << ({whole} + 40) // 3) % 1000) * 0.001", 5)
                case _:
                    lines.append(f"    assert {value()} < 1e30, 'a value of the model is finite'")
                    done += 1
            continue
        match pick.randrange(24):
            case 0:
                line(f"g.math.exp(limited({value()} * 0.01))", 3)
            case 1:
                line(f"g.math.log(abs({value()}) + 1.5)", 3)
            case 2:
                line(f"g.math.pow(abs({value()}) * 0.001 + 1.0, {parameter})", 4)
            case 3:
                a, b = value(), value()
                lines.append(f"    if {a} > {parameter}:")
                lines.append(f"        v{number} = {a} * 0.5 - {b}")
                lines.append("    else:")
                line(f"{b} * 0.25 + {parameter}", 6, "        ")
            case 4 | 5:
                line(f"{value()} / (1.0 + abs({value()}))", 3)
            case 6 | 7 | 8:
                line(f"{value()} if {value()} < {parameter} else {value()} * 0.75", 3)
            case _:
                line(f"{value()} * {parameter} {pick.choice('+-')} {value()} * {pick.uniform(0.1, 0.9):.6f}", 3)
    total = " + ".join(f"v{index}" for index in range(max(0, number - 16), number))
    return f"\n\n@g.map\ndef {name}(x: f64, p: Model) -> f64:\n" + "\n".join(lines) + f"\n    return {total}\n"


def model_source(operations: int, kernels: int = 1, seed: int = 1, *, integers: bool = False) -> str:
    """A module of that many kernels `k00`, `k01`, ... with that many operations each, the same for the same arguments."""
    params = "\n\n@g.params\nclass Model:\n" + "".join(f"    p{number}: f64\n" for number in range(_PARAMETERS))
    header = _HEADER
    if integers:
        header = _HEADER.replace("import f64", "import f64, i32") + _TABLE
        params += "    weights: g.fixed[f64, 8]\n"
    return header + params + _HELPER + "".join(_kernel(f"k{number:02}", operations, seed, integers) for number in range(kernels))


def main() -> int:
    """Write one to the standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=1)
    parser.add_argument("--operations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--integers", action="store_true")
    arguments = parser.parse_args()
    sys.stdout.write(model_source(arguments.operations, arguments.kernels, arguments.seed, integers=arguments.integers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
