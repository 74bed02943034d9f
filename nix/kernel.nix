# kernel { src; root; target; optimize ? "fast"; emitCubin; heavyFeatures; launched ? null; after ? null; } -> a kernel set of one root for one target
# `src` is read for the root's own files alone. `after` is what a heavy root waits for: see lane-token.nix.
{ pkgs, environments, compilerSource }:
{ src, root, target, optimize ? "fast", emitCubin, heavyFeatures, launched ? null, after ? null }:
let
  cubin = emitCubin && target.backend == "cuda";
  environment = if cubin then environments.compilerWithPtxas else environments.compiler;
  imports = if builtins.isAttrs root.imports then root.imports.${target.backend} or [ ] else root.imports;

  source = if builtins.isAttrs root.source then root.source.${target.backend} else root.source;
  # Of the manifest what it says of this root: a launch of another one changes nothing here. No call sites, so that lines may move.
  manifest = builtins.toJSON { version = 1; kernels.${root.name} = launched; call_sites = { }; };

  copy = import ./copy-file.nix src;
  quote = import ./quote.nix;

  # The declaration again, of this root alone. JSON's strings and lists are TOML's.
  project = ''
    [tool.gompute.roots.${root.name}]
    source = ${builtins.toJSON source}
    imports = ${builtins.toJSON imports}
  '';

  token = import ./lane-token.nix { inherit pkgs; } {
    name = "${root.name}-${target.safe_name}";
    toolchain = "${environment.drvPath}${compilerSource}";
    inherit after;
  };
  heavy = if root.heavy then { lane = token; requiredSystemFeatures = heavyFeatures; } else { };
in
pkgs.runCommand "kernels-${root.name}-${target.safe_name}"
  ({
    nativeBuildInputs = [ environment ];
    passthru = { inherit root target; };
  } // heavy) ''
  mkdir project
  cd project
  ${builtins.concatStringsSep "" (map copy ([ source ] ++ imports))}
  chmod -R u+w .
  printf %s ${quote project} > pyproject.toml
  ${if launched == null then "" else "printf %s ${quote manifest} > manifest.json"}
  export PYTHONPATH=${compilerSource} PYTHONDONTWRITEBYTECODE=1
  # A builder's output is a terminal; through a pipe the progress comes as plain lines.
  set -o pipefail
  python3 -m gompute build --target ${quote target.name} --emit ptx${if cubin then ",cubin" else ""} -j 1 ${if launched == null then "" else "--manifest manifest.json "}${if optimize == "fast" then "" else "--optimize ${target.backend}=${optimize} "}--no-cache -o ../set 2>&1 | cat
  cp -r ../set $out
''
