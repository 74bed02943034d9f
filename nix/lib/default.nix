# What can be known of a build without building anything: targets, roots, and all that is wrong with them. No `pkgs`: it evaluates anywhere.
rec {
  targets = builtins.fromJSON (builtins.readFile ./targets.json);

  nearNames = import ./nearNames.nix;
  targetFault = import ./targetFault.nix { inherit nearNames targets; };
  parseTarget = import ./parseTarget.nix { inherit targetFault targets; };
  listTargets = import ./listTargets.nix;
  listRoots = import ./listRoots.nix;
  readProject = import ./readProject.nix { inherit nearNames; };
  readManifest = import ./readManifest.nix;
  keptKernels = import ./keptKernels.nix;
  kernelFaults = import ./kernelFaults.nix { inherit listTargets optimizeFaults targetFault targets; };
  optimizeFaults = import ./optimizeFaults.nix { inherit nearNames; };
  optimizeFor = import ./optimizeFor.nix;
  waitsFor = import ./waitsFor.nix;
  targetsFromNixpkgs = import ./targetsFromNixpkgs.nix;
}
