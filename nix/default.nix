# Everything that needs packages, for one set of them.
{ pkgs, poetry2nix, lib }:
rec {
  inherit pkgs lib;
  environments = import ./environments.nix { inherit pkgs poetry2nix; };
  compilerSource = import ./compiler-source.nix;
  kernel = import ./kernel.nix { inherit pkgs environments compilerSource; };
  mkKernels = import ./kernel-set.nix { inherit pkgs lib environments compilerSource kernel package; };
  withKernels = import ./with-kernels.nix;
  package = import ./package.nix { inherit pkgs environments; };
  # The command line with all that its commands use: it compiles, and it runs what it compiled.
  commandLine = environments.make {
    name = "gompute";
    extras = [ "compiler" "demo" ] ++ environments.drivers;
    extraPackages = [ package ];
    imports = [ "gompute.cli" "llvmlite.binding" "ziglang" "numpy" "PIL" "pywt" ];
  };
}
