# The failures of nix/lib, as lines of text; none is an empty list. Each function has a file of examples here, of its own name.
{ lib }:
let
  functions = builtins.filter (name: builtins.isFunction lib.${name}) (builtins.attrNames lib);
  untested = builtins.filter (name: !builtins.pathExists (./. + "/${name}.nix")) functions;
  tested = builtins.filter (name: builtins.pathExists (./. + "/${name}.nix")) functions;
  failing = function:
    let cases = import (./. + "/${function}.nix") { inherit lib; }; in
    builtins.concatMap
      (case:
        let inherit (cases.${case}) got wanted; in
        if got == wanted then [ ] else [ "${function}, ${case}: got ${builtins.toJSON got}, wanted ${builtins.toJSON wanted}" ])
      (builtins.attrNames cases);
in
map (name: "${name} has no examples: write tests/nix/lib/${name}.nix") untested ++ builtins.concatMap failing tested
