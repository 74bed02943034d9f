{ lib }:
let
  template = lib.readProject ../../../nix/template;
  mistaken = lib.readProject ./mistaken;
in
{
  "the template's targets" = { got = template.targets; wanted = [ "sm_89" "gfx1100" "x86-64-v3" ]; };
  "its roots" = { got = builtins.attrNames template.roots; wanted = [ "counting" "waves" ]; };
  "one lane where none is declared" = { got = template.heavyLanes; wanted = 1; };
  "no manifest where none is declared" = { got = template.manifest; wanted = null; };
  "the manifest of a project" = { got = (lib.readProject ./launched).manifest; wanted = "manifest.json"; };
  "no host code where none is declared" = { got = { inherit (template) host keep; }; wanted = { host = [ ]; keep = [ ]; }; };
  "nothing wrong with it" = { got = template.faults; wanted = [ ]; };
  "a folder without a project" = { got = (lib.readProject ./.).roots; wanted = { }; };
  "every unknown key, with the near one" = {
    got = mistaken.faults;
    wanted = [
      "[tool.gompute]: unknown key \"heavy_lanes\", did you mean heavy-lanes?\n  Known keys: heavy-lanes, host, keep, manifest, optimize, roots, targets"
      "[tool.gompute.roots.a]: unknown key \"sauce\", did you mean source?\n  Known keys: heavy, imports, optimize, source"
    ];
  };
}
