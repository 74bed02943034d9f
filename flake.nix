{
  description = "GPU kernels in Python, compiled ahead of time for pinned targets, bit for bit reproducible";

  inputs = {
    # The commit that poetry2nix was last locked to and tested with.
    nixpkgs.url = "github:NixOS/nixpkgs/75e28c029ef2605f9841e0baa335d70065fe7ae2";
    poetry2nix = {
      url = "github:nix-community/poetry2nix";
      inputs.nixpkgs.follows = "nixpkgs";
    };
  };

  outputs = { self, nixpkgs, poetry2nix }:
    let
      lib = import ./nix/lib;
      builders = pkgs: import ./nix { inherit pkgs poetry2nix lib; };
      forEach = make: builtins.listToAttrs (map
        (system: { name = system; value = make (builders nixpkgs.legacyPackages.${system}); })
        [ "x86_64-linux" "aarch64-linux" ]);
      example = gompute: gompute.mkKernels { src = ./.; };
    in
    {
      lib = lib // {
        mkKernels = { pkgs, ... }@arguments: (builders pkgs).mkKernels (removeAttrs arguments [ "pkgs" ]);
        withKernels = import ./nix/with-kernels.nix;
      };

      packages = forEach (gompute:
        let kernels = example gompute; in
        kernels.packages // {
          default = gompute.commandLine;
          inherit kernels;
          with-kernels = gompute.withKernels { inherit kernels; };
        });

      apps = forEach (gompute: {
        default = {
          type = "app";
          program = "${gompute.commandLine}/bin/gompute";
        };
      });

      devShells = forEach (gompute: { default = import ./nix/dev-shell.nix { inherit gompute; }; });

      checks = forEach (gompute: import ./nix/checks {
        inherit gompute;
        kernels = example gompute;
        overlay = self.overlays.default;
        source = ./.;
      });

      overlays.default = final: _: { gompute = (builders final).commandLine; };

      templates.default = {
        path = ./nix/template;
        description = "A project with two kernel roots and the flake that builds them";
      };
    };
}
