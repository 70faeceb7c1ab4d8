#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
set -euo pipefail

base=${AUTOGRADER_BASE:-/autograder}
environment=${AUTOGRADER_ENVIRONMENT:-/opt/zhoric-nmt/env}

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv util-linux ca-certificates

# An environment of its own: the platform's harness keeps the system's packages.
sh "$base/source/autograder/environment.sh" "$environment"
# Tests, answers and held-out data are for root alone.
chmod 700 "$base/source"
apt-get clean
