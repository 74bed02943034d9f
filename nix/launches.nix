# launches { src; roots; host; keep; kernels; name; } -> a derivation that fails, at their lines, where `host` launches what `kernels`, of a
# manifest, does not name or what no root makes. It has the host code as its input; no kernel's derivation does.
{ pkgs, environments }:
{ src, roots, host, keep, kernels, name }:
let
  quote = import ./quote.nix;
  # Not the package, which takes more to make than a scan does.
  scanner = builtins.path { name = "gompute"; path = ../gompute; filter = path: _: baseNameOf path != "__pycache__"; };
  sourcesOf = root: if builtins.isAttrs root.source then builtins.attrValues root.source else [ root.source ];
  importsOf = root: if builtins.isAttrs root.imports then builtins.concatLists (builtins.attrValues root.imports) else root.imports;
  files = builtins.concatMap (root: sourcesOf root ++ importsOf root) roots;
  # A file may be host code too, or lie in a folder of it.
  isInside = folders: file: builtins.any (folder: folder == "." || file == folder || builtins.substring 0 (builtins.stringLength folder + 1) file == "${folder}/") folders;
  once = builtins.foldl' (seen: file: if builtins.elem file seen then seen else seen ++ [ file ]) [ ];
  copied = once (host ++ builtins.filter (file: !isInside host file) files);
  # JSON's strings and lists are TOML's; a table is written out.
  toml = value:
    if builtins.isAttrs value then "{ ${builtins.concatStringsSep ", " (map (key: "${key} = ${toml value.${key}}") (builtins.attrNames value))} }"
    else builtins.toJSON value;
  project = ''
    [tool.gompute]
    host = ${toml host}
    keep = ${toml keep}
  '' + builtins.concatStringsSep "" (map
    (root: ''
      [tool.gompute.roots.${root.name}]
      source = ${toml root.source}
    '')
    roots);
in
pkgs.runCommand "${name}-launches" { nativeBuildInputs = [ environments.compiler ]; } ''
  mkdir scanner project
  ln -s ${scanner} scanner/gompute
  export PYTHONPATH=$PWD/scanner PYTHONDONTWRITEBYTECODE=1
  cd project
  ${builtins.concatStringsSep "" (map (import ./copy-file.nix src) copied)}
  chmod -R u+w .
  printf %s ${quote project} > pyproject.toml
  printf %s ${quote (builtins.toJSON { version = 1; inherit kernels; })} > manifest.json
  python3 -m gompute manifest check --allow-more --manifest manifest.json
  touch $out
''
