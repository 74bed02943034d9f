{
  description = "Stand-in for nixpkgs, made of Debian packages; for this project's own checks, where no binary cache can be reached";
  outputs = { self }: {
    # aarch64 is there to be evaluated: its packages have the names and hashes of x86-64's, and none of them can be built.
    legacyPackages = builtins.listToAttrs (map (system: { name = system; value = import ./packages.nix { inherit system; }; }) [
      "x86_64-linux"
      "aarch64-linux"
    ]);
  };
}
