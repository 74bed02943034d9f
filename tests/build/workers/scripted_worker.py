"""A worker that does what the root's file says in its first line, so that a test can have a unit crash, hang or lie without a compiler.

A blob's bytes are the root's own, with the target's name in front, and before it in PTX the header.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from pathlib import Path

BLOBS = {"gf": {"kind": "hsaco", "version": "5"}, "x8": {"kind": "so", "version": None}}
HEADERS = {"sm": ".version 7.8\n.target sm\n.address_size 64\n"}


def prepare(order):
    """There is nothing to load."""


foresee = prepare


def compile_unit(order, blobs, report):
    if order["work"] == "code":
        return _code(order, blobs[0].decode(), report)
    text = Path(order["source"]).read_text()
    action, words = _script(text)
    report("check", ())
    if action == "refuse":
        return {"status": "refused", "message": f"{order['root']}.py:1:1: refused"}, ()
    if action == "bug":
        return {"status": "bug", "message": "Traceback: a bug"}, ()
    if action == "exit":
        os._exit(3)
    made = [word for word in words if word.isidentifier()] or [f"{order['root']}_kernel"]
    names = [name for name in made if order["kernels"] is None or name in order["kernels"]]
    entries = [_kernel(name) for name in names]
    if order["work"] == "lower":
        report("lowered", names, {"count": 1, "entries": entries}, [f"{Path(order['source']).with_suffix('.pid')}\n{text}".encode()])
    sources = {order["source"]: hashlib.sha256(text.encode()).hexdigest()}
    reads = {"sources": sources, "files": {}, "folders": {}, "absent": [], "unknown": None}
    kept = {"digests": {}, "kept": []}
    return {"status": "done", "kernels": entries, "left_out": [name for name in made if name not in names], "reads": reads, **kept}, ()


def _script(text):
    action, *words = text.split("\n", 1)[0].lstrip("# ").split()
    return action, words


def _code(order, ir, report):
    pid_file, text = ir.split("\n", 1)
    action, words = _script(text)
    report("codegen", [kernel["name"] for kernel in order["kernels"]])
    if action == "abort":
        os.write(2, b"LLVM ERROR: words of LLVM\n")
        os.abort()
    if action == "hang":
        _write_whole(Path(pid_file), str(os.getpid()))
        time.sleep(60)
    if action == "hog":
        held = bytearray(1 << 31)
        return {"status": "bug", "message": f"had {len(held)} bytes"}, ()
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "raise":
        raise RuntimeError("not caught in the worker")
    if action == "print":
        print("a word on stdout")
        print("a word on stderr", file=sys.stderr)
    if action == "environment":
        text = repr(
            (sorted(os.environ), sys.flags.hash_randomization, hash("a"), sys.flags.no_user_site, sys.path[:1] == [""], os.getpid())
        )
    if action == "silent":
        return {"status": "done"}, ()
    size = int(words[0]) if words and words[0].isdecimal() else 0
    code = HEADERS.get(order["target"][:2], "").encode() + f"{order['target']}\n{text}".encode() + bytes(size)
    listings = {"ir": "; listing\n"} if "ir" in order["emit"] else {}
    toolchain = {"llvm": "0.0.0"}
    shared = {kernel["symbol"]: 0 for kernel in order["kernels"]}
    done = {"status": "done", "piece": {"shared": shared, "listings": listings, "toolchain": toolchain}}
    if not order["whole"]:
        return done, [code]
    blobs = [BLOBS[order["target"][:2]]]
    return {**done, "kernels": order["kernels"], "blobs": blobs, "listings": listings, "toolchain": toolchain}, [b"piece", code]


def _write_whole(path, text):
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text)
    unfinished.rename(path)


def _kernel(name):
    signature = "map(data: ptr[f32], len: u64) block=256,1,1"
    return {
        "arguments": [
            {"align": 8, "dtype": "f32", "kind": "pointer", "name": "data", "size": 8},
            {"align": 8, "dtype": "u64", "kind": "scalar", "name": "len", "size": 8},
        ],
        "block_size": [256, 1, 1],
        "fingerprint": hashlib.sha256(signature.encode()).hexdigest()[:16],
        "kind": "map",
        "name": name,
        "resources": {},
        "signature": signature,
        "symbol": name,
    }
