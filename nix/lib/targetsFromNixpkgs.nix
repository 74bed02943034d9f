# targetsFromNixpkgs :: config -> { cuda, hip :: [string] }
# The targets that a nixpkgs configuration names for its own CUDA and ROCm packages. It names no CPU; add one: // { cpu = [ "x86-64-v3" ]; }
config: {
  cuda = map (capability: "sm_${builtins.replaceStrings [ "." ] [ "" ] capability}") (config.cudaCapabilities or [ ]);
  hip = config.rocmTargets or [ ];
}
