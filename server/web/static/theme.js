// Sets the chosen colours before the page is painted. A file of its own, because the policy of the page allows no inline script.
try {
	const theme = localStorage.getItem("kioku-theme");
	if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
	// Without storage the page follows the system.
}
