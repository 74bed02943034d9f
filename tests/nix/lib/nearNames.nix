{ lib }:
let names = builtins.attrNames lib.targets; in
{
  "transposed digits" = { got = builtins.head (lib.nearNames "sm_98" names); wanted = "sm_88"; };
  "at most three, the nearest first" = { got = lib.nearNames "gfx1000" names; wanted = [ "gfx1010" "gfx1030" "gfx1100" ]; };
  "nothing is like it" = { got = lib.nearNames "turing" names; wanted = [ ]; };
  "an empty word" = { got = lib.nearNames "" names; wanted = [ ]; };
}
