{
  description = "GPU kernels, compiled for pinned targets, and the program that runs them";

  # What you gave to `nix flake init -t`; or name it once for all projects: nix registry add gompute REFERENCE
  inputs.gompute.url = "flake:gompute";

  outputs = { self, gompute }:
    let
      outputs = pkgs: rec {
        # Roots and targets are declared in pyproject.toml, where the command line finds them too.
        kernels = gompute.lib.mkKernels { inherit pkgs; src = ./.; };
        python = gompute.lib.withKernels { inherit kernels; };
      };
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: builtins.listToAttrs (map
        (system: { name = system; value = make (outputs gompute.inputs.nixpkgs.legacyPackages.${system}); })
        systems);
    in
    {
      # nix build .#kernels, or one root for one target: nix build .#kernels-waves-sm_89
      packages = each ({ kernels, python }: kernels.packages // { inherit kernels; default = python; });

      # nix develop -c python main.py
      devShells = each ({ kernels, python }: { default = kernels.gompute.pkgs.mkShell { packages = [ python ]; }; });

      checks = each ({ kernels, ... }: { inherit kernels; });
    };
}
