#!/bin/sh
# Make the virtual environment FOLDER from pyproject.toml and constraints.txt, unless it is there
# already. Usage: environment.sh FOLDER [EXTRA]     (EXTRA: an optional dependency group, as "dev")
#                environment.sh --key               (prints a number that changes when it must be new)
#
# Workers run under a uid of their own, so as root both the Python and the folder must be readable by
# everybody; the first Python that fits is taken, or the one that $PYTHON names.
set -eu

project=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
# Without the settings of style and type checks, which stand below the dependencies.
key=$({ sed '/^\[tool/,$d' "$project/pyproject.toml"; cat "$project/constraints.txt" "$0"; } | cksum | cut -d' ' -f1)
if [ "$1" = --key ]; then
    printf '%s\n' "$key"
    exit 0
fi
folder=$1
extra=${2:-}

say() { printf '%s\n' "$*" >&2; }

# True if every user can reach the path.
readable() {
    part=$1
    while [ "$part" != / ]; do
        mode=$(stat -c %a "$part" 2>/dev/null) || return 1
        case $mode in *[1357]) ;; *) return 1 ;; esac
        part=$(dirname "$part")
    done
}

# True if the interpreter is 3.10 or newer and, as root, lies where every user can read it.
fits() {
    prefix=$("$1" -c 'import sys; assert sys.version_info >= (3, 10); print(sys.base_prefix)' 2>/dev/null) || return 1
    real=$("$1" -c 'import os, sys; print(os.path.realpath(sys.executable))')
    [ "$(id -u)" -ne 0 ] || { readable "$prefix" && readable "$real"; }
}

find_python() {
    for candidate in ${PYTHON:-python3 /usr/bin/python3 /usr/local/bin/python3 \
        python3.14 python3.13 python3.12 python3.11 python3.10}; do
        if path=$(command -v "$candidate") && fits "$path"; then
            printf '%s\n' "$path"
            return
        fi
    done
    say "No fitting Python. Needed: 3.10 or newer${PYTHON:+ (PYTHON=$PYTHON is not)}; as root, one whose"
    say "folders every user may read, such as /usr/bin/python3 (apt-get install python3 python3-venv)."
    exit 1
}

wanted=$key-$extra
if [ -x "$folder/bin/python" ] && [ "$(cat "$folder/.complete" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

python=$(find_python)
say "Making the environment $folder with $python (some minutes the first time) ..."
umask 022
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
# Debian and Ubuntu split ensurepip off; virtualenv does without it.
"$python" -m venv "$folder" 2>/dev/null ||
    { rm -rf "$folder" && "$python" -m virtualenv --quiet "$folder"; } ||
    { say "$python cannot make an environment: install python3-venv (apt-get install python3-venv)."; exit 1; }

pip="$folder/bin/python -m pip --disable-pip-version-check --no-input -qq"
requirements=$(mktemp)
trap 'rm -f "$requirements"' EXIT
"$folder/bin/python" - "$project/pyproject.toml" "$extra" > "$requirements" <<'EOF'
import sys
try:
    import tomllib
except ImportError:  # 3.10: pip carries the same parser
    from pip._vendor import tomli as tomllib
with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)["project"]
extra = sys.argv[2]
print("\n".join(project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])))
EOF

# The CPU build of torch is a tenth of the default one. uv can choose it; where its index cannot be
# reached, pip takes what the machine's own settings offer.
if [ "${INSTALLER:-uv}" = uv ] && $pip install --no-cache-dir --constraint "$project/constraints.txt" uv 2>/dev/null &&
    reason=$("$folder/bin/uv" pip install --quiet --python "$folder/bin/python" \
        --torch-backend cpu --constraint "$project/constraints.txt" \
        --requirement "$requirements" 2>&1); then
    :
else
    [ -z "${reason:-}" ] || say "uv could not: $(printf '%s\n' "$reason" | tail -n 1). Trying pip ..."
    $pip install --no-cache-dir --constraint "$project/constraints.txt" --requirement "$requirements"
fi
printf '%s\n' "$wanted" > "$folder/.complete"
