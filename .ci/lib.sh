# What the scripts here and integrations/*/ci share; they source it.

# begin prepares a script of steps: .ci/run or .ci/full.
begin() {
	# One spelling of all paths, so that the steps, and clones in other folders, share what they compile.
	export GOFLAGS="${GOFLAGS:-} -trimpath"
	# At the end, all that was not tested is told again.
	KIOKU_UNTESTED=$(mktemp)
	export KIOKU_UNTESTED
	trap tell_untested EXIT
	install_missing 'command -v gcc' gcc libc6-dev
}

tell_untested() {
	if [ -s "$KIOKU_UNTESTED" ]; then
		printf '\n== not tested on this machine\n'
		cat "$KIOKU_UNTESTED"
	fi
	rm -f "$KIOKU_UNTESTED"
	printf '\n== %d s\n' "$SECONDS"
}

# step NAME COMMAND... runs a step and prints its seconds.
step() {
	printf '\n== %s\n' "$1"
	local start=$SECONDS
	"${@:2}"
	printf '== %s: ok, %d s\n' "$1" "$((SECONDS - start))"
}

# install_missing TEST PACKAGE... installs packages of Debian, if that is possible, unless the command TEST succeeds.
install_missing() {
	if ! eval "$1" >/dev/null 2>&1 && command -v apt-get >/dev/null; then
		{ apt-get update -qq && apt-get install -y -qq "${@:2}"; } >/dev/null || true
	fi
}

# untested WHAT WHY says that something was not tested. .ci/run and .ci/full repeat all such lines at their end.
untested() {
	echo "$1: not tested: $2"
	[ -z "${KIOKU_UNTESTED:-}" ] || echo "$1: $2" >>"$KIOKU_UNTESTED"
}

# skip WHAT WHY ends a script without having tested something. Only what this machine lacks is a reason: a tool, or a registry that does
# not answer. What fails although the registry answers is a failure.
skip() {
	untested "$@"
	exit 0
}

# need_npm WHAT skips the script unless npm is there and its registry answers.
need_npm() {
	command -v npm >/dev/null || skip "$1" "npm is not installed"
	timeout 60 npm ping --silent >/dev/null 2>&1 || skip "$1" "the registry of npm does not answer"
}

# need_pypi WHAT PIP skips the script unless PyPI answers.
need_pypi() {
	timeout 60 "$2" --disable-pip-version-check index versions pip >/dev/null 2>&1 || skip "$1" "PyPI does not answer"
}

# npm_install WHAT FOLDER PACKAGE@VERSION... puts packages into a folder, unless they are there in these versions.
npm_install() {
	local what=$1 folder=$2 package missing=()
	shift 2
	command -v npm >/dev/null || skip "$what" "npm is not installed"
	mkdir -p "$folder"
	[ -s "$folder/package.json" ] || echo '{"private": true}' >"$folder/package.json"
	for package in "$@"; do
		[ "$(node -p "require('$(realpath "$folder")/node_modules/${package%@*}/package.json').version" 2>/dev/null)" = "${package##*@}" ] || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	need_npm "$what"
	timeout 300 npm install --silent --save-exact --no-audit --no-fund --prefix "$folder" "${missing[@]}"
}

# npm_ci WHAT installs the packages of package-lock.json here, unless they are there.
npm_ci() {
	[ node_modules/.package-lock.json -nt package-lock.json ] && return
	need_npm "$1"
	timeout 300 npm ci --silent --ignore-scripts --no-audit --no-fund
	touch node_modules/.package-lock.json
}
