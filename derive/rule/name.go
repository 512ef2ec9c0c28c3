package rule

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/search/analysis"
)

var (
	// latinName is a name in Latin letters, of one to four words: Dario, Mary-Ann O'Neil, J. R. Smith, Anna van der Berg.
	latinName = text.NewRegexp(`^\p{Lu}(?:[\p{Ll}\p{M}'’.-]|\p{Lu}\p{Ll})*(?: (?:(?:van|von|de|der|den|da|di|del|la|le|bin|al) )*\p{Lu}(?:[\p{Ll}\p{M}'’.-]|\p{Lu}\p{Ll})*){0,3}$`)
	// hanName is a name in Chinese characters or kana, with a middle dot or a space between its parts.
	hanName = text.NewRegexp(`^(?:[\p{Han}々]{2,4}|[\p{Han}々]{1,3}[ 　][\p{Han}々]{1,3}|[\p{Katakana}ー]{2,10}(?:[・ ][\p{Katakana}ー]{2,10}){0,2}|[\p{Hangul}]{2,4})$`)
	// honorific follows a name in Japanese.
	honorific = text.NewRegexp(`(?:さん|さま|様|くん|ちゃん|氏|先生|-san|-sensei)$`)
	// emphasis and links around a name.
	wikiText = text.NewRegexp(`^\[\[(?:[^|\]]*\|)?([^|\]]+)\]\]$`)
	linkText = text.NewRegexp(`^\[([^\]]+)\]\([^)]*\)$`)
)

// common are words that begin like names, or stand where names do, and are none. Headings of notes are among them.
var common = analysis.WordSet(`
	i you he she it we they my your his her its our their mine yours theirs this that these those there here who what when where why how which everyone everybody someone somebody nobody
	anyone people team user users agent assistant system admin owner customer customers client clients manager boss
	the a an and or but if then else so because while also only just please thanks thank hello hi hey yes no ok okay sure well maybe perhaps today tomorrow
	yesterday now later soon always never sometimes often usually again still already all any both each every some many most other others another
	monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
	november december morning afternoon evening night week month year weekend spring summer autumn winter
	note notes todo todos done open closed fixme warning tip tips info important example examples usage install installation setup
	configuration config settings options overview introduction summary background context goal goals decision decisions lesson lessons
	preference preferences contact contacts project projects people family friends work job home health hobbies interests tools
	environment infrastructure architecture design development deployment testing tests security performance features changelog license
	contributing readme faq references reference resources links api docs documentation getting started quickstart requirements
	dependencies history roadmap status misc miscellaneous general other general rules rule style workflow workflows schedule routine
	reminders reminder birthdays dates events meetings meeting travel trips food music books movies finance money goals ideas questions
	answers code coding technical tech stack facts memory memories log logs journal diary profile about bio background skills experience
	education communication language languages timezone location english japanese chinese german french spanish italian dutch
	google github gitlab microsoft apple amazon slack docker kubernetes linux windows macos python java javascript typescript rust go
	node postgres postgresql mysql redis sqlite openai anthropic claude codex gemini chatgpt copilot internet europe asia america
	nothing something everything anything one two three first second third last next new old good bad see use used using add added
	fix fixed update updated remove removed make made get got set run ran check checked read write wrote test tested build built
	key keys value values name names type types default defaults data file files folder page pages section item items list table
	step steps part parts version versions release releases bug bugs issue issues error errors problem problems result results
	content contents application applications app apps program programs command commands process container request response browser compiler parser
	query schema template plugin framework engine network cluster host machine device kernel object interface organization organizations organisation
	career likes dislikes personality relationship relationships hobby interest occupation employment birthday address phone email age
	organisations company companies vendor vendors docs spec specs server service services client database backend frontend library module package function class method
	mom dad mum mother father wife husband sister brother son daughter
	gedächtnis erinnerung erinnerungen notiz notizen tagebuch wissen mémoire souvenirs carnet connaissances mémo mémos memoria memorias recuerdos
	notas apuntes diario bitácora conocimiento conocimientos ricordi appunti conoscenza conoscenze promemoria memória memórias lembranças anotações
	apontamentos diário caderno conhecimento conhecimentos память воспоминания заметки заметка записи дневник журнал знания пам'ять нотатки щоденник
	geheugen herinneringen notities aantekeningen dagboek kennis pamięć wspomnienia notatki dziennik pamiętnik wiedza minne minnen anteckningar dagbok
	kunskap hukommelse noter dagbog viden notater muisti muistiinpanot päiväkirja bellek hafıza anılar notlar günlük paměť poznámky deník jegyzetek
	napló memorie amintiri notițe jurnal memori catatan knowledge memo memos notebook recollections remembrances`)

// commonTitle reports whether a title is made of common words only.
func commonTitle(title string) bool {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	for _, w := range words {
		if !common[w] && !common[strings.TrimSuffix(w, "s")] && !analysis.IsStopWord(w, analysis.Word) {
			return false
		}
	}
	return len(words) > 0 || !hasLetter(title)
}

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// hanDocument ends what only names the kind of a document, such as 記憶, 読書記録 and 工作日志.
var hanDocument = text.NewRegexp(`(?:[記记]憶|记忆|[記记][録錄录事]|日[記记誌志報报]|知[識识]|[筆笔][記记]本?|覚書|手[帳帐記记]|[備备]忘[録錄录]?|[随雑杂札][記记]|回[憶忆])$` +
	`|^(?:メモリー?|メモ帳?|ノート(?:ブック)?|ダイアリー|ジャーナル|ナレッジ|메모리?|메모장|기억|노트|일기장?|일지|지식|기록|수첩|비망록|저널|다이어리)$`)

// hanCommon are words of two to four characters in places of names.
var hanCommon = analysis.WordSet(`設定 概要 予定 決定 好み 習慣 約束 連絡 仕事 家族 健康 趣味 環境 会議 議事録 宿題 保留 旅行 食事 音楽 開発 技術 設計 教訓 目標 名前 役割 住所 電話
	日程 状態 期限 担当 備考 注意 例 使用 使い方 方法 问题 問題 设置 概述 计划 决定 偏好 习惯 约定 联系 工作 家庭 环境 会议 旅游 饮食 音乐 开发 技术 设计 教训 目标 姓名 职位 地址
	状态 期限 负责 备注 注意 示例 安装 用法 关于 简介 其他 其它 总结 记录 日志 待办 用户 助手 系统 客户 团队 大家 自己 今天 明天 昨天 上午 下午 晚上 周一 周二 周三 周四 周五 周六 周日
	経歴 職歴 学歴 性格 関係 近況 基本 情報 生活 住居 所属 勤務 勤務先 日課 嗜好 好物 苦手 特技 資格 目的 進捗 課題 成果 計画 方針 感想 質問 回答 参考 資料 過去 現在 将来 人物 人間関係
	经历 履历 学历 关系 近况 信息 爱好 喜好 口味 职业 进展 课题 成果 资料 过去 现在 将来 사람 인물 가족 친구 연락처 설정 개요 예정 결정 취향 습관 업무 직장 건강 취미 환경 회의 여행 음식 음악 개발
	기술 목표 이름 주소 전화 경력 학력 성격 관계 생활 계획 프로필 프로젝트 회사
	今日 明日 昨日 全員 全体 社内 社外 顧客 部長 課長 社長 店長 先生 先輩 同僚 友人 皆 母 父 兄 姉 弟 妹 妻 夫 息子 娘
	コメント メモ タスク ユーザー プロジェクト システム サーバー データ テスト レビュー リリース ミーティング スケジュール メール ツール コード ファイル エラー バグ サービス クライアント チーム メンバー リスト ページ テーマ ルール`)

// isPersonName reports whether a text has the form of a person's name and is no common word.
func isPersonName(name string) bool {
	if utf8.RuneCountInString(name) > 40 {
		return false
	}
	if hanName.MatchString(name) {
		return !hanCommon[name] && !hanDocument.MatchString(name)
	}
	if !latinName.MatchString(name) || utf8.RuneCountInString(name) < 2 {
		return false
	}
	for _, w := range strings.Fields(strings.ToLower(name)) {
		if common[strings.Trim(w, ".'’")] {
			return false
		}
	}
	return true
}

// fitsKind reports whether a name can be that of an entity of a type.
func fitsKind(name, kind string) bool {
	if vocab.Norm(name) == "" || strings.ContainsAny(name, "`<>{}=/\\|?!*:：。") || calendarDay(name) != "" {
		return false
	}
	if kind == vocab.Person {
		return isPersonName(name) || isMixedName(name)
	}
	r, _ := utf8.DecodeRuneInString(name)
	return utf8.RuneCountInString(name) <= 40 && len(strings.Fields(name)) <= 5 && unicode.IsLetter(r) && !unicode.IsLower(r) && !commonTitle(name) && !hanCommon[name]
}

// titled matches the words of a name of a company or a place: each has a capital, but for those that join them.
var titled = text.NewRegexp(`^(?:(?:[^\p{Ll}\s]\S*|of|the|and|for|in|de|da|do|du|la|le|van|von|y|e|&)(?: |$))+$`)

// fitsHeading reports whether a heading can be the name of an entity of a type. "Roles in organizations" and "Creating Teams" are no companies.
func fitsHeading(name, kind string) bool {
	first, _, more := strings.Cut(name, " ")
	if (kind == vocab.Org || kind == vocab.Place) && (!titled.MatchString(name) || more && (strings.HasSuffix(first, "ing") || common[strings.ToLower(first)])) {
		return false
	}
	return fitsKind(name, kind)
}

// isMixedName reports whether a name is written twice, in Latin letters and in another script: Su Lan 苏岚.
func isMixedName(name string) bool {
	latin, han := splitScripts(name)
	return latin != "" && han != "" && isPersonName(latin) && isPersonName(han)
}

// splitScripts returns the part of a name in Latin letters and the part behind it in another script.
func splitScripts(name string) (latin, other string) {
	i := strings.IndexFunc(name, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Katakana, unicode.Hangul) })
	if i <= 0 {
		return "", ""
	}
	return strings.TrimSpace(name[:i]), strings.TrimSpace(name[i:])
}

// cleanName returns a name without the marks of emphasis, links and code, and without a form of address.
func cleanName(name string) string {
	name = strings.Trim(name, " \t*_`\"“”'「」『』")
	if m := wikiText.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if m := linkText.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	name = strings.TrimPrefix(name, "@")
	if bare := honorific.ReplaceAllString(name, ""); isPersonName(bare) {
		name = bare
	}
	return strings.TrimSpace(name)
}

var (
	inBrackets = text.NewRegexp(`^(.*?)\s*[(（]([^()（）]*)[)）]\s*$`)
	alsoCalled = text.NewRegexp(`^(?i:aka|a\.k\.a\.|also known as|alias|called|goes by|通称|愛称|あだ名|又名|别名|昵称|旧姓)[:：]?\s*`)
	// hanCalled are forms of address with a surname or a part of the given name: 小王, 阿伟, 王经理.
	hanCalled = text.NewRegexp(`^(?:[小老阿大]([\p{Han}]{1,2})|([\p{Han}])(?:先生|女士|老师|经理|医生|律师|教授|总|小姐|师傅|阿姨|同学|哥|姐|叔|姨|總|師傅|姐姐|哥哥))$`)
)

// splitAliases returns a name without what stands behind it in brackets, and the aliases there: "Dario Conti (Dario, DC)". What is in
// brackets is an alias if it is a part of the name, its initials, the name in another script, or said to be one. Where the whole name
// stands in the brackets, what stands before them is the alias: 田中さん（田中太郎）.
func splitAliases(name string) (string, []string) {
	var aliases []string
	if m := inBrackets.FindStringSubmatch(name); m != nil && m[1] != "" {
		name = cleanName(m[1])
		for _, a := range strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(",、，/;；", r) }) {
			a = strings.TrimSpace(a)
			said := alsoCalled.MatchString(a)
			a = cleanName(alsoCalled.ReplaceAllString(a, ""))
			switch {
			case a == "":
			case !said && isPersonName(a) && shortens(name, a):
				name, aliases = a, append(aliases, name)
			case said || isAliasOf(a, name):
				aliases = append(aliases, a)
			}
		}
	}
	if latin, other := splitScripts(name); isMixedName(name) {
		return latin, append([]string{other}, aliases...)
	}
	return name, aliases
}

// isAliasOf reports whether a text is certainly another form of a name.
func isAliasOf(alias, name string) bool {
	if shortens(alias, name) {
		return true
	}
	words := strings.Fields(vocab.Norm(name))
	var initials strings.Builder
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		initials.WriteRune(r)
	}
	if len(words) > 1 && vocab.Norm(alias) == initials.String() {
		return true
	}
	return isPersonName(alias) && isPersonName(name) && hanName.MatchString(alias) != hanName.MatchString(name)
}

// shortens reports whether a text is a part of a name by which people are called: a word of it, a surname, a given name, 小王 of 王伟.
func shortens(alias, name string) bool {
	short, whole := vocab.Norm(alias), vocab.Norm(name)
	if short == whole {
		return false
	}
	words := strings.FieldsFunc(whole, func(r rune) bool { return r == ' ' || r == '・' })
	for _, w := range words {
		if len(words) > 1 && w == short {
			return true
		}
	}
	if !hanName.MatchString(name) || strings.ContainsFunc(whole, func(r rune) bool { return !unicode.Is(unicode.Han, r) && r != ' ' }) {
		return false
	}
	whole = strings.ReplaceAll(whole, " ", "")
	if n := utf8.RuneCountInString(short); n >= 2 && n < utf8.RuneCountInString(whole) && (strings.HasPrefix(whole, short) || strings.HasSuffix(whole, short)) {
		return true
	}
	m := hanCalled.FindStringSubmatch(short)
	return m != nil && (m[1] != "" && (strings.HasPrefix(whole, m[1]) || strings.HasSuffix(whole, m[1])) || m[2] != "" && strings.HasPrefix(whole, m[2]))
}
