{
  description = "Stand-in for poetry2nix: wheels of poetry.lock, chosen by their file names; no code of poetry2nix";
  outputs = { self }: {
    lib.mkPoetry2Nix = { pkgs }: {
      overrides.withoutDefaults = overlay: overlay;
      mkPoetryEnv = import ./environment.nix { inherit pkgs; };
    };
  };
}
