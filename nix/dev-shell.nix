# What one needs to work on gompute: compiler, runtime, pytest, ruff, mypy, and the pinned ld.lld and ptxas as programs.
{ gompute }:
let
  inherit (gompute) pkgs environments;
  tools = pkgs.runCommand "gompute-tools" { } ''
    mkdir -p $out/bin
    python=${environments.development}/bin/python3
    printf '#!%s\nexec %s -m ziglang ld.lld "$@"\n' ${pkgs.stdenv.shell} $python > $out/bin/ld.lld
    printf '#!%s\nexec %s -m gompute "$@"\n' ${pkgs.stdenv.shell} $python > $out/bin/gompute
    chmod +x $out/bin/ld.lld $out/bin/gompute
    ln -s $($python -c 'import nvidia, pathlib; print(*(f for p in nvidia.__path__ for f in pathlib.Path(p).rglob("bin/ptxas")))') $out/bin/ptxas
  '';
in
pkgs.mkShell {
  packages = [ environments.development tools ];
  # gompute is imported from the folder that one works in.
  shellHook = ''export PYTHONPATH="$PWD''${PYTHONPATH:+:$PYTHONPATH}"'';
}
