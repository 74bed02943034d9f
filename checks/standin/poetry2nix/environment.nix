# mkPoetryEnv: what poetry2nix does for a project whose dependencies all have wheels, in the main group and in extras.
{ pkgs }:
{ projectDir, python ? pkgs.python3, preferWheels ? false, extras ? [ "*" ], groups ? [ "dev" ], extraPackages ? (_: [ ]), overrides ? null }:
assert preferWheels;
let
  normal = name: builtins.replaceStrings [ "_" "." ] [ "-" "-" ] (lower name);
  lower = builtins.replaceStrings
    [ "A" "B" "C" "D" "E" "F" "G" "H" "I" "J" "K" "L" "M" "N" "O" "P" "Q" "R" "S" "T" "U" "V" "W" "X" "Y" "Z" ]
    [ "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n" "o" "p" "q" "r" "s" "t" "u" "v" "w" "x" "y" "z" ];
  # As poetry2nix does it: `[project]` is not read.
  project = (builtins.fromTOML (builtins.readFile (projectDir + "/pyproject.toml"))).tool.poetry;
  lock = builtins.fromTOML (builtins.readFile (projectDir + "/poetry.lock"));
  locked = builtins.listToAttrs (map (package: { name = normal package.name; value = package; }) lock.package);

  wantedExtras = if extras == [ "*" ] then builtins.attrNames project.extras else extras;
  inExtras = builtins.concatMap (extra: map normal project.extras.${extra}) wantedExtras;
  isWanted = name: name != "python"
    && (!(project.dependencies.${name}.optional or false) || builtins.elem (normal name) inExtras);
  direct = map normal (builtins.filter isWanted (builtins.attrNames project.dependencies));

  # genericClosure keeps what it has seen, so packages that need each other do no harm.
  wanted = builtins.genericClosure {
    startSet = map (key: { inherit key; }) direct;
    operator = { key }: map (name: { key = normal name; }) (builtins.filter needed (builtins.attrNames (locked.${key}.dependencies or { })));
  };
  # The lock holds what some platform needs; the one of these that Linux does not.
  needed = name: normal name != "colorama";

  digits = builtins.replaceStrings [ "." ] [ "" ] python.pythonVersion;
  machine = builtins.head (builtins.match "(.*)-linux" pkgs.system);
  fits = tag: file: builtins.match ".*-${tag}-(any|.*manylinux.*_${machine}.*)\\.whl" file != null;
  # From the interpreter's own tag to the most general one.
  tags = [ "cp${digits}-cp${digits}" ]
    ++ map (minor: "cp3${toString minor}-abi3") [ 13 12 11 10 9 8 7 6 ]
    ++ [ "py3-none" "py2\\.py3-none" ];
  usable = builtins.filter (tag: builtins.match "cp3([0-9]+)-abi3" tag == null || isOlder tag) tags;
  isOlder = tag: builtins.fromJSON (builtins.head (builtins.match "cp3([0-9]+)-abi3" tag))
    <= builtins.fromJSON (builtins.head (builtins.match "3\\.([0-9]+)" python.pythonVersion));
  wheels = name: builtins.concatMap (tag: builtins.filter (file: fits tag file.file) locked.${name}.files) usable;

  install = { key }:
    if wheels key == [ ] then throw "the lock has no wheel of ${key} for Python ${python.pythonVersion} on ${pkgs.system}" else
    let wheel = builtins.head (wheels key); in
    python.installWheel "${key}-${locked.${key}.version}" (pkgs.fetchurl { name = wheel.file; hash = wheel.hash; });
in
python.withPackages (_: map install wanted ++ extraPackages python.pkgs)
