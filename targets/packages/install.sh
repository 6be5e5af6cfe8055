# What ./dev installs, after saying what: Debian packages of debian.txt by group, and Python packages into .venv. Sourced by
# ./dev, whose functions (die, in_group) and settings (log, no_install, venv) it uses.
# shellcheck shell=bash disable=SC2154

# missing_packages GROUP...: the packages of those groups that are not installed.
missing_packages() {
  local group package
  for group in "$@"; do
    while read -r package; do
      if ! dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; then
        echo "$package"
      fi
    done < <(awk -v group="$group" '$1 == group {print $2}' targets/packages/debian.txt)
  done | sort -u
}

apt() {
  local command=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 "$@")
  [ "$(id -u)" -eq 0 ] || command=(sudo "${command[@]}")
  echo "\$ ${command[*]}" >>"$log"
  "${command[@]}" >>"$log" 2>&1 </dev/null
}

# need_packages GROUP...: installs what is missing of those groups. Elsewhere than on Debian CMake names what it does not find.
need_packages() {
  local missing start=$SECONDS
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if $no_install; then
    echo "dev: missing Debian packages (--no-install):" >&2
    printf '  %s\n' "${missing[@]}" >&2
    echo "Install them with: sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
  echo "Installing Debian packages: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo: run  apt-get install ${missing[*]}  as root"
    sudo -v || die "sudo refused: run  apt-get install ${missing[*]}  as root"
  fi
  # Package lists may be absent (a container) or older than the archive: refresh them only then.
  if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! apt install --no-install-recommends "${missing[@]}"; then
    apt update || echo "dev: apt-get update failed, see $log" >&2
    apt install --no-install-recommends "${missing[@]}" || {
      tail -n 20 "$log"
      die "apt-get could not install: ${missing[*]}; all output: $log"
    }
  fi
  printf '%-52s%4d s\n' "Packages installed" "$((SECONDS - start))"
}

# need_python FILE: a virtual environment that holds what FILE pins. Returns 1 when that is not to be had.
need_python() {
  local list=$1 stamp
  stamp=$venv/.installed-$(basename "$list")-$(sha256sum "$list" | cut -c1-16)
  [ -e "$stamp" ] && return 0
  if $no_install; then
    echo "dev: Python packages of $list are not installed (--no-install)" >&2
    return 1
  fi
  [ -x "$venv/bin/pip" ] || {
    rm -rf "$venv"
    in_group python3 -m venv "$venv" >>"$log" 2>&1 || { rm -rf "$venv"; return 1; }
  }
  printf '%-52s' "Python tools: $list"
  if in_group "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list" >>"$log" 2>&1; then
    touch "$stamp"
    echo "done"
  else
    echo "not installed, see $log"
    return 1
  fi
}

# need_newest FILE VENV: a virtual environment with the newest releases of what FILE lists, upgraded at each call. Where not all of
# them install together, each is tried alone, and those that fail are named. Returns 1 where there is no environment.
need_newest() {
  local list=$1 folder=$2 package
  if $no_install; then
    [ -x "$folder/bin/python3" ] && return 0
    echo "dev: Python packages of $list are not installed (--no-install)" >&2
    return 1
  fi
  printf '%-52s' "Newest releases: $list"
  [ -x "$folder/bin/pip" ] || {
    rm -rf "$folder"
    in_group python3 -m venv "$folder" >>"$log" 2>&1 || { rm -rf "$folder"; echo "no environment, see $log"; return 1; }
  }
  local install=("$folder/bin/pip" install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager)
  if in_group "${install[@]}" -r "$list" >>"$log" 2>&1; then
    echo "done"
    return 0
  fi
  echo "one by one"
  while read -r package; do
    in_group "${install[@]}" "$package" >>"$log" 2>&1 </dev/null || echo "  $package: not installed, see $log"
  done < <(sed 's/#.*//; s/ *$//; /^$/d' "$list")
}
