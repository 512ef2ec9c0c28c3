package dates

import "testing"

// 2026-11-28 is a Saturday.
func TestParseReadsRelativeDaysOfTongues(t *testing.T) {
	t.Parallel()
	var cases []dateCase
	for want, queries := range map[string][]string{
		"2026-11-28": {"was ist heute", "quoi de neuf aujourd'hui", "qué pasó hoy", "che cosa oggi", "o que fiz hoje", "wat vandaag", "vad hände idag", "что сегодня", "오늘은 뭐"},
		"2026-11-27": {"was habe ich gestern gemacht", "qu'est-ce que j'ai fait hier", "notes d'hier", "¿qué hice ayer?", "cosa ho fatto ieri?",
			"o que eu fiz ontem", "wat deed ik gisteren", "vad gjorde jag igår", "vad gjorde jag i går", "что я делал вчера", "어제는 뭐 했지",
			"que s'est-il passé vendredi dernier", "am letzten Freitag", "am Freitag", "el viernes pasado", "venerdì scorso", "venerdi scorso",
			"sexta-feira passada", "sexta passada", "afgelopen vrijdag", "i fredags", "в прошлую пятницу", "в пятницу", "지난 금요일"},
		"2026-11-26":             {"vorgestern", "avant-hier", "anteayer", "l'altro ieri", "anteontem", "eergisteren", "i förrgår", "позавчера", "그저께", "vor zwei Tagen", "2일 전"},
		"2026-11-25":             {"vor 3 Tagen", "il y a trois jours", "hace 3 días", "hace tres dias", "tre giorni fa", "há três dias", "3 dagen geleden", "för 3 dagar sedan", "3 дня назад", "3일 전"},
		"2026-11-16..2026-11-22": {"letzte Woche", "vorige Woche", "la semaine dernière", "la semana pasada", "la settimana scorsa", "na semana passada", "vorige week", "förra veckan", "на прошлой неделе", "неделю назад", "지난주", "지난 주", "vor einer Woche"},
		"2026-11-09..2026-11-15": {"was war vor zwei Wochen", "il y a deux semaines", "hace dos semanas", "due settimane fa", "há 2 semanas", "twee weken geleden", "för två veckor sedan", "две недели назад", "2주 전"},
		"2026-10-01..2026-10-31": {"letzten Monat", "le mois dernier", "el mes pasado", "il mese scorso", "no mês passado", "afgelopen maand", "förra månaden", "в прошлом месяце", "지난달"},
		"2025-01-01..2025-12-31": {"letztes Jahr", "l'an dernier", "l'année dernière", "el año pasado", "l'anno scorso", "no ano passado", "vorig jaar", "förra året", "в прошлом году", "작년에"},
		"2026-11-23..2026-11-29": {"diese Woche", "cette semaine", "esta semana", "questa settimana", "deze week", "на этой неделе", "이번 주"},
		"2026-11-21..2026-11-22": {"letztes Wochenende", "le week-end dernier", "el fin de semana pasado", "vorig weekend", "지난 주말"},
		"2026-11-20":             {"Freitag letzter Woche", "지난주 금요일"},
		"": {"morgen", "demain", "mañana", "domani", "nächsten Freitag", "vendredi prochain", "jeden Montag", "cada lunes", "ogni lunedì", "was ist hier passiert",
			"wat is hier gebeurd", "Domingo paints", "segunda opção", "der Ayerbach", "이번에", "the notes of the dag"},
	} {
		for _, q := range queries {
			cases = append(cases, dateCase{"2026-11-28", q, want})
		}
	}
	checkDates(t, cases)
}
