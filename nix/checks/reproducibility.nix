# The command line in a noisy place, all at once, gives the bytes that one derivation per root and target gave: other folder, other hash seed,
# other time zone, more at a time, and GPU tools first on PATH that must not be called.
{ gompute, pkgs, kernels, files, ... }:
pkgs.runCommand "gompute-reproducibility"
{
  nativeBuildInputs = [ gompute.environments.compiler ];
  source = files [ "checks/example" "pyproject.toml" ];
} ''
  mkdir -p tools other/folder
  for tool in nvidia-smi rocminfo amdgpu-arch nvptx-arch ptxas; do
    printf '#!%s\ntouch %s\nexit 1\n' ${pkgs.stdenv.shell} $PWD/called > tools/$tool
    chmod +x tools/$tool
  done
  cp -r $source/. other/folder/
  cd other/folder
  export PATH=$OLDPWD/tools:$PATH PYTHONPATH=${gompute.compilerSource} PYTHONDONTWRITEBYTECODE=1
  export PYTHONHASHSEED=12345 TZ=Asia/Kathmandu LANG=tr_TR.UTF-8 CUDA_VISIBLE_DEVICES=7 HIP_VISIBLE_DEVICES=3 GOMPUTE_KERNELS=/nowhere
  set -o pipefail
  python3 -m gompute build -j 5 -o set 2>&1 | cat
  test ! -e $OLDPWD/called
  diff -r set ${kernels}
  touch $out
''
