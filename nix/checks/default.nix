# The flake's checks: each in a file of its name.
{ gompute, kernels, overlay, source }:
let
  inherit (gompute) pkgs;
  # Files of the repository by what a check reads of it, so that it runs again only when one of them is edited.
  files = wanted:
    let root = toString source; in
    builtins.path {
      name = "gompute-checked";
      path = source;
      filter = path: _:
        let inside = builtins.substring (builtins.stringLength "${root}/") (-1) path; in
        baseNameOf path != "__pycache__"
        && builtins.any (place: inside == place || isBelow place inside || isBelow inside place) wanted;
    };
  isBelow = folder: path: builtins.substring 0 (builtins.stringLength folder + 1) path == "${folder}/";
  arguments = { inherit gompute pkgs kernels overlay files source; };
  names = builtins.filter (name: name != "default") (map
    (file: builtins.head (builtins.match "(.*)\\.nix" file))
    (builtins.filter (file: builtins.match ".*\\.nix" file != null) (builtins.attrNames (builtins.readDir ./.))));
in
builtins.listToAttrs (map (name: { inherit name; value = import (./. + "/${name}.nix") arguments; }) names)
