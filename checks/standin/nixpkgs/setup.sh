# As much of nixpkgs' stdenv as a `buildCommand` and `nix develop` need.
set -eu -o pipefail
PATH=
HOST_PATH=
for _package in ${nativeBuildInputs-} ${buildInputs-} ${initialPath-}; do
    [ ! -d "$_package/bin" ] || PATH="${PATH:+$PATH:}$_package/bin"
done
export PATH
genericBuild() {
    eval "$buildCommand"
}
# As nixpkgs does it: the script with which `nix develop` reads the environment uses variables that are not set.
set +u
