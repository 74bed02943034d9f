# waitsFor :: { lanes, count :: int } -> [null or int]
# For each of so many heavy things to compile, by number, the one that it waits for: the one before it in its lane, null for a lane's first.
{ lanes, count }:
builtins.genList (at: if at < lanes then null else at - lanes) count
