"""Another kernel root."""

import gompute as g
from gompute import u32


@g.map
def next_number(x: u32) -> u32:
    return x + 1
