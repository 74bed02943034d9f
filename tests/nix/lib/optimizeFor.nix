{ lib }:
let
  all = root: project: map (lib.optimizeFor { inherit root project; }) [ "cuda" "hip" "cpu" ];
in
{
  "nothing asked for" = { got = all null null; wanted = [ "fast" "fast" "fast" ]; };
  "a project's" = { got = all null "safe"; wanted = [ "safe" "safe" "safe" ]; };
  "a project's debug is for the CPU" = { got = all null "debug"; wanted = [ "fast" "fast" "debug" ]; };
  "a backend's" = { got = all null { cuda = "debug"; }; wanted = [ "debug" "fast" "fast" ]; };
  "a root's" = { got = all "debug" { cpu = "safe"; }; wanted = [ "debug" "debug" "debug" ]; };
  "a root's for a backend" = { got = all { hip = "safe"; } "debug"; wanted = [ "fast" "safe" "debug" ]; };
}
