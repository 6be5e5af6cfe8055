#!/usr/bin/env bash
# Unpacks the libraries that bantam needs (group `sysroot` of debian.txt) of another Debian architecture into a folder.
#
#   targets/packages/sysroot.sh arm64|armhf|riscv64|windows FOLDER
#
# Development packages of two architectures cannot be installed at once, so these are not installed: apt gets an empty list
# of installed packages, lists and downloads of its own in FOLDER/.apt, and reads the machine's sources and keys. Nothing
# outside FOLDER is written, and no root is needed. What the cross compilers' packages bring (libc, libstdc++, kernel
# headers) is left out. Done once: a stamp names the packages.
set -euo pipefail
architecture=$1
folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mapfile -t packages < <(awk '$1 == "sysroot" {print $2}' "$here/debian.txt")

stamp="$architecture ${packages[*]}"
[ "$(cat "$folder/.packages" 2>/dev/null)" != "$stamp" ] || exit 0

rm -rf "$folder"
target=
case $architecture in
  riscv64) target=linux-riscv64 ;;
  windows) target=windows-x86_64 ;;
esac
if [ -n "$target" ]; then
  "$here/built_sysroot.sh" $target "$folder"
  echo "$stamp" >"$folder/.packages"
  exit 0
fi
mkdir -p "$folder/.apt/state/lists/partial" "$folder/.apt/cache/archives/partial" "$folder/.apt/log"
folder=$(cd "$folder" && pwd)
: >"$folder/.apt/status"
private=(
  -q -y
  -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
  -o "Dir::State=$folder/.apt/state" -o "Dir::State::status=$folder/.apt/status"
  -o "Dir::Cache=$folder/.apt/cache" -o "Dir::Log=$folder/.apt/log"
  -o "APT::Sandbox::User=" -o "APT::Install-Recommends=false" -o "Acquire::Languages=none"
  -o "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"
  -o "APT::Update::Post-Invoke=" -o "APT::Update::Post-Invoke-Success=" -o "DPkg::Post-Invoke="
)
# One list that fails, such as a mirror's in the middle of an update, is no loss when the others have the packages.
apt-get "${private[@]}" update || echo "sysroot.sh: some package lists could not be read; going on without them" >&2
apt-get "${private[@]}" install --download-only "${packages[@]}"
for deb in "$folder"/.apt/cache/archives/*.deb; do
  case $(dpkg-deb --field "$deb" Package) in
    libc6* | libc-* | libcrypt* | libgcc* | libstdc++* | linux-libc-dev | gcc-* | cpp-* | libatomic* | libgomp*) continue ;;
  esac
  dpkg-deb --extract "$deb" "$folder"
done
rm -rf "$folder/.apt"
echo "$stamp" >"$folder/.packages"
