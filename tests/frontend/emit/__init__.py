"""Tests of the emitter: trees made by hand, compiled and run, compared with `gompute.lang.numeric`."""
