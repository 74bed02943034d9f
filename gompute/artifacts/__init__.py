"""Kernel sets: folders of an index and blobs, written by a build and read by the runtime, with neither a compiler nor a driver."""
