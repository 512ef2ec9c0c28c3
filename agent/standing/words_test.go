package standing

import "testing"

func TestIsStanding(t *testing.T) {
	t.Parallel()
	for want, lines := range map[bool][]string{
		true: {
			"Always format code with highlighting", "- **Never** push on Fridays", "2. Please keep it short", "For code, don't use tabs", "Use pnpm, not npm",
			"I am vegetarian.", "I’m allergic to nuts", "Ana: mostly vegetarian", "I don't like coriander", "The user prefers tea", "Prefers short answers", "Call me Rin",
			"Immer auf Deutsch antworten", "Ich bin Vegetarierin", "Bitte kurz antworten", "Toujours répondre en français", "Je suis allergique aux noix", "J'aime le thé",
			"Siempre usa tabuladores", "Soy vegetariana", "Rispondi sempre in italiano", "Sono allergico alle noci", "Use sempre tabulações", "Não gosto de café",
			"Altijd in het Nederlands antwoorden", "Ik ben vegetariër", "Svara alltid på svenska", "Jag är allergisk mot nötter", "Всегда отвечай по-русски", "Я вегетарианец",
			"絵文字は使わない。", "返事は必ず日本語で", "結論から書いてください", "パクチーが苦手", "请用中文回答", "不要使用表情符号", "我对花生过敏", "总是先给结论",
		},
		false: {
			"The key is in vault 7.", "Dario lives in Porto", "The use of tabs was discussed", "We found the boat that was never lost", "A pleased customer", "2026-01-15: PostgreSQL stores the ledger",
			"Der Hafen liegt im Norden", "Le port est au nord", "El puerto está al norte", "港は北にある", "会议改到周三", "Порт на севере",
		},
	} {
		for _, line := range lines {
			if got := isStanding(line); got != want {
				t.Errorf("%q: %t", line, got)
			}
		}
	}
}

func TestIsStandingHeading(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"Preferences": true, "How Rin wants answers": true, "House rules": true, "Vorlieben": true, "Préférences": true, "好み": true, "偏好": true,
		"Decisions": false, "Ruler": false, "About Rin": false, "連絡先": false,
	} {
		if got := isStandingHeading(title); got != want {
			t.Errorf("%q: %t", title, got)
		}
	}
}
