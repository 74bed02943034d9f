{ lib }:
let
  faults = lib.optimizeFaults "optimize";
in
{
  "nothing asked for" = { got = faults null; wanted = [ ]; };
  "a mode" = { got = faults "safe"; wanted = [ ]; };
  "modes by backend" = { got = faults { cuda = "safe"; cpu = "debug"; }; wanted = [ ]; };
  "no mode" = { got = faults "debg"; wanted = [ "optimize: there is no mode \"debg\", did you mean debug?\n  The modes are fast, safe, debug." ]; };
  "no word" = { got = faults 3; wanted = [ "optimize: a mode is wanted, one of fast, safe, debug, got a value of type int." ]; };
  "no backend" = { got = faults { metal = "safe"; }; wanted = [ "optimize: there is no backend \"metal\"\n  The backends are cpu, cuda, hip." ]; };
  "no mode of a backend" = { got = faults { hip = "O3"; }; wanted = [ "optimize.hip: there is no mode \"O3\"\n  The modes are fast, safe, debug." ]; };
}
