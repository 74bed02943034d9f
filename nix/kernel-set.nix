# mkKernels { src; roots ? ...; targets ? ...; manifest ? ...; keep ? [ ]; host ? ...; optimize ? ...; heavyLanes ? ...; heavyFeatures ? [ ]; emitCubin ? false; name ? "kernels"; } -> kernel set
# What is left out comes from [tool.gompute] of src's pyproject.toml.
{ pkgs, lib, environments, compilerSource, kernel, package }:
{ src
, roots ? null
, targets ? null
  # A launch manifest, from src on: only what it names is compiled, and a root that it names nothing of gives no blob.
, manifest ? null
  # Kernels to compile besides: "ROOT.KERNEL" or "ROOT.KERNEL[f32]".
, keep ? [ ]
  # Files and folders of host code, from src on, that the manifest is held to: where they launch what it does not name, the set fails.
, host ? null
  # "fast", "safe" or "debug", or one of them for each backend; a root's own `optimize` goes first.
, optimize ? null
, heavyLanes ? null
  # What a machine must have to compile a heavy root, for example [ "big-parallel" ].
, heavyFeatures ? [ ]
, emitCubin ? false
, name ? "kernels"
}:
let
  project = lib.readProject src;
  given = value: declared: if value != null then value else declared;
  request = {
    inherit src;
    roots = lib.listRoots (given roots project.roots);
    targets = given targets project.targets;
    heavyLanes = given heavyLanes project.heavyLanes;
    optimize = given optimize project.optimize;
    host = given host project.host;
    inherit launched;
  };
  named = lib.readManifest src (given manifest project.manifest);
  launched = if named == null then null else lib.keptKernels { kernels = named; inherit keep; };
  # The set waits for it, and no kernel does: an edit of the host code compiles nothing.
  launches = if named == null || request.host == [ ] then [ ] else [
    (import ./launches.nix { inherit pkgs environments; } {
      inherit src name;
      inherit (request) roots host;
      keep = project.keep;
      kernels = launched;
    })
  ];
  isLaunched = root: launched == null || (launched.${root.name} or { }) != { };
  isFor = root: row: !(builtins.isAttrs root.source) || root.source ? ${row.backend};
  faults = project.faults ++ lib.kernelFaults request;
  checked = value:
    if faults == [ ] then value else throw "gompute: these kernels cannot be built.\n${builtins.concatStringsSep "\n" (map (fault: "- ${fault}") faults)}";

  rows = map (target: lib.parseTarget target.name) (lib.listTargets request.targets);
  pairs = builtins.concatMap (root: map (target: { inherit root target; }) (builtins.filter (isFor root) rows)) (builtins.filter isLaunched request.roots);
  unit = after: { root, target }: kernel {
    inherit src root target emitCubin heavyFeatures after;
    optimize = lib.optimizeFor { root = root.optimize; project = request.optimize; } target.backend;
    launched = if launched == null then null else launched.${root.name};
  };
  # Roots that nothing is launched of: the set says that they were left out.
  leftOut = builtins.filter (root: !isLaunched root) request.roots;

  # Alone, as the attributes of single roots are: nothing to wait for.
  alone = map (unit null) pairs;

  # In the set a heavy unit waits for the one before it in its lane, which waits itself.
  light = builtins.filter (pair: !pair.root.heavy) pairs;
  heavy = builtins.filter (pair: pair.root.heavy) pairs;
  before = lib.waitsFor { lanes = request.heavyLanes; count = builtins.length heavy; };
  inLanes = builtins.genList
    (at:
      let waited = builtins.elemAt before at; in
      unit (if waited == null then null else builtins.elemAt inLanes waited) (builtins.elemAt heavy at))
    (builtins.length heavy);
  members = map (unit null) light ++ inLanes;
in
checked (pkgs.runCommand name
{
  nativeBuildInputs = [ environments.compiler ];
  inherit members launches;
  passthru = {
    roots = request.roots;
    targets = map (row: row.name) rows;
    backends = builtins.attrNames (builtins.groupBy (row: row.backend) rows);
    # units.<root>.<target>: one derivation each
    units = builtins.mapAttrs
      (_: drvs: builtins.listToAttrs (map (drv: { name = drv.target.name; value = drv; }) drvs))
      (builtins.groupBy (drv: drv.root.name) alone);
    # The same under names that fit into a flake's packages: kernels-<root>-<target>
    packages = builtins.listToAttrs (map (drv: { name = "kernels-${drv.root.name}-${drv.target.safe_name}"; value = drv; }) alone);
    # For withKernels: what the set was made with.
    gompute = { inherit pkgs environments compilerSource package; };
  };
} ''
  export PYTHONPATH=${compilerSource} PYTHONDONTWRITEBYTECODE=1
  members="$members"
  ${if leftOut == [ ] then "" else ''
    mkdir left-out && cd left-out
    printf '[tool.gompute]\ntargets = ["x86-64-v3"]\n' > pyproject.toml
    printf '{"version": 1, "kernels": {}}' > manifest.json
    for root in ${builtins.concatStringsSep " " (map (root: root.name) leftOut)}; do
      touch $root.py
      printf '[tool.gompute.roots.%s]\nsource = "%s.py"\n' $root $root >> pyproject.toml
    done
    python3 -m gompute build --manifest manifest.json -o ../left-out-set
    cd ..
    members="$members left-out-set"
  ''}
  python3 -m gompute merge $members -o set
  cp -r set $out
'')
