"""Finding what host code launches, without running it.

`program` finds and parses modules, `values` and `store` are what an expression can stand for and where it is kept, `interpret` walks the
code over and over until nothing new is found, and `scan` turns the launches that it met into a manifest, or into faults at their lines.

The walk takes no order and no branch into account: a name stands for everything that is ever bound to it. So it finds each kernel that a
launch can be of, and perhaps some that it never is; where a launch can be of something that no source shows, it says so.
"""
