# `./dev packages`: what package managers want of bantam, in build/packages; `./dev wheel`: what pip wants. Sourced by ./dev, whose
# functions it uses.
# shellcheck shell=bash disable=SC2154

command_packages() {
  case ${1:-} in
    x86_64 | aarch64 | armv7 | riscv64)
      [ $# -eq 1 ] || die "packages takes one machine: $*" 2
      package_linux "$1"
      return
      ;;
  esac
  need_packages build package
  configure dist
  build dist
  rm -rf build/packages
  python3 -B targets/packages/generate.py --out build/packages "$@"
  local generator
  for generator in DEB RPM; do
    step "cpack -G $generator" cpack --config build-dist/CPackConfig.cmake -G $generator -B build/packages/$generator
  done
  rm -rf build/packages/*/_CPack_Packages
  ls build/packages/DEB/*.deb build/packages/RPM/*.rpm
}

# package_linux MACHINE: the command for that machine's Linux, without any library.
package_linux() {
  local preset=$1 folder=build-$1 group=arm
  case $1 in
    x86_64)
      [ "$(uname -m)" = x86_64 ] || die "packages x86_64: this machine is $(uname -m), and there is no preset for another"
      preset=dist folder=build-dist
      need_packages build wheel
      configure dist
      ;;
    *)
      [ "$1" != riscv64 ] || group=riscv
      need_packages build $group
      configure_emulated "$1" -DBANTAM_TESTS=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8
      ;;
  esac
  build "$preset" bantam_static
  python3 -B targets/packages/generate.py linux --out build/packages --linux "$1=$folder/static/bantam"
  ls -l build/packages/linux/*.tar.gz
}

command_wheel() {
  [ $# -le 1 ] || die "wheel takes one machine: $*" 2
  case ${1:-} in
    "") ;;
    aarch64 | armv7)
      need_packages build arm
      configure_emulated "$1" -DBANTAM_TESTS=OFF
      build "$1" bantam_python
      python3 -B targets/python/backend/bantam_build.py --out build/wheel --library "build-$1/python/libbantam.so"
      return
      ;;
    *) die "unknown machine \"$1\": use aarch64 or armv7, or none for this one" 2 ;;
  esac
  need_packages build wheel
  configure dist
  build dist bantam_python bantam_portable bantam_app
  rm -rf build/wheel
  python3 -B targets/python/backend/bantam_build.py --out build/wheel --library build-dist/python/libbantam.so
  python3 -B targets/python/backend/bantam_build.py --out build/wheel --command build-dist/python/bantam
}
