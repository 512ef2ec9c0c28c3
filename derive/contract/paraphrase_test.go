package contract_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"kioku/derive/contract"
	"kioku/derive/unit"
)

// paraphrases are lines, and what a model makes of them in words of its own: names of another script touch the words around them in the one
// and stand apart in the other, endings differ, and so does the width of characters.
var paraphrases = map[string][][2]string{
	"Japanese": {
		{"今日はUnityで開発を進めた。", "Unityの開発をした。"},
		{"次回、UnityのAnimator設計の続きを話しましょう。", "次回、UnityのAnimator設計の続きを話す"},
		{"GitHub Actionsがまた落ちたので、明日直す。", "GitHub Actionsの修正"},
		{"Dockerでサーバーを立てたい。", "Dockerのサーバー構築"},
		{"Kyotoに来月旅行へ行く予定です。", "Kyotoへの旅行"},
		{"田中さんとZoomで打ち合わせをした。", "田中さんとのZoom打ち合わせ"},
		{"PostgreSQLからSQLiteへ移行することにした。", "PostgreSQLをやめてSQLiteへ移行"},
		{"Ｒｕｓｔを勉強し始めた。", "Rustの勉強"},
		{"OpenAIのAPIキーを更新しないといけない。", "OpenAI APIキーの更新"},
		{"娘がPokémonにはまっている。", "娘はPokémonが好き"},
		{"MacBookが壊れたので修理に出した。", "MacBookの修理"},
		{"Slackの通知がうるさいから切った。", "Slack通知を切った"},
		{"レポートをGoogleドキュメントで書いている。", "Googleドキュメントでレポートを書く"},
		{"IKEAで本棚を買った。", "IKEAの本棚を購入"},
		{"来週までにFigmaのデザインを仕上げる。", "Figmaデザインを仕上げる"},
		{"Tシャツを友達に返す。", "友達にTシャツを返却"},
		{"歯医者の予約を取り直さなきゃ。", "歯医者の予約を取り直す"},
		{"妹の誕生日にBluetoothスピーカーをあげたい。", "妹の誕生日プレゼントにBluetoothスピーカー"},
		{"NHKのラジオで英語を聞いている。", "NHKラジオで英語を勉強"},
		{"確定申告はe-Taxで済ませる。", "e-Taxで確定申告をする"},
		{"Go言語でCLIを作った。", "Go言語のCLIを作成"},
		{"ベランダでトマトを育てている。", "トマトをベランダで栽培"},
		{"VS CodeよりNeovimが好き。", "Neovimを好む"},
		{"健太とAmazonプライムで映画を見た。", "Amazonプライムの映画を健太と見た"},
		{"会社のVPNがつながらない。", "VPNがつながらない問題"},
		{"Kubernetesの勉強会に申し込んだ。", "Kubernetes勉強会への申し込み"},
		{"祖母はKobe出身だ。", "祖母はKobeの出身"},
		{"FinalDraftの第2章を書き直す。", "FinalDraft第2章の書き直し"},
		{"コーヒーはSTARBUCKSでしか飲まない。", "Starbucksのコーヒー"},
		{"ＮＡＳのバックアップを毎週取る。", "NASのバックアップを毎週"},
		{"iPhoneを買った。", "iPhoneの購入"},
		{"iPadでeSIMとiCloudを設定した。", "iPadのeSIMとiCloudの設定"},
		{"2FAを設定して、10GBの容量を足した。", "2FAの設定と10GBの追加"},
		{"Windows11に更新した。", "Windows 11への更新"},
		{"Windows 11に更新した。", "Windows11への更新"},
		{"VSCodeでWiFiの設定を直した。", "VS CodeでWi-Fiの設定を直す"},
		{"GPT4で三つの案を作った。", "GPT-4で3つの案を作成"},
		{"ドイツとフランスへ旅行する。", "ドイツ・フランス旅行"},
		{"おばさんに会った。", "叔母さんに会った"},
		{"APIの設計を終えた。", "「API設計」の完了"},
	},
	"Chinese": {
		{"今天用Unity做开发。", "Unity的开发工作"},
		{"下次继续聊Unity的Animator设计。", "继续讨论Unity的Animator设计"},
		{"GitHub Actions又失败了,明天修。", "修复GitHub Actions"},
		{"我想用Docker部署服务器。", "Docker服务器部署"},
		{"下个月去Kyoto旅行。", "Kyoto旅行"},
		{"和张伟在Zoom上开会。", "与张伟的Zoom会议"},
		{"决定从PostgreSQL迁移到SQLite。", "把PostgreSQL迁移到SQLite"},
		{"开始学习Ｒｕｓｔ了。", "学习Rust"},
		{"要更新OpenAI的API密钥。", "更新OpenAI API密钥"},
		{"女儿迷上了Pokémon。", "女儿喜欢Pokémon"},
		{"MacBook坏了,送去修理。", "MacBook的修理"},
		{"把Slack的通知关掉了。", "关掉Slack通知"},
		{"报告写在Google文档里。", "用Google文档写报告"},
		{"在IKEA买了书架。", "IKEA的书架"},
		{"下周前完成Figma的设计。", "完成Figma设计"},
		{"把T恤还给朋友。", "还朋友T恤"},
		{"要重新预约牙医。", "重新预约牙医"},
		{"想给妹妹买Bluetooth音箱当生日礼物。", "妹妹的生日礼物是Bluetooth音箱"},
		{"每天听BBC的广播学英语。", "听BBC广播学习英语"},
		{"住在Shanghai的浦东。", "Shanghai浦东"},
		{"用Go语言写了一个CLI。", "Go语言的CLI"},
		{"在阳台上种番茄。", "阳台种番茄"},
		{"比起VS Code我更喜欢Neovim。", "更喜欢Neovim"},
		{"和小明看了Netflix的电影。", "跟小明看Netflix电影"},
		{"公司的VPN连不上。", "VPN连不上的问题"},
		{"报名了Kubernetes的学习会。", "报名Kubernetes学习会"},
		{"外婆是Kobe人。", "外婆来自Kobe"},
		{"要重写FinalDraft的第2章。", "重写FinalDraft第2章"},
		{"只喝STARBUCKS的咖啡。", "Starbucks咖啡"},
		{"每周给ＮＡＳ做备份。", "NAS的每周备份"},
		{"买了iPhone。", "购买iPhone"},
		{"下午三点去初中的同学聚会。", "下午3点的中学同学聚会"},
		{"升级到Windows11了。", "升级到Windows 11"},
	},
	"Korean": {
		{"오늘은 Unity로 개발을 했다.", "Unity의 개발"},
		{"GitHub의 비밀번호를 바꿔야 한다.", "GitHub 비밀번호 바꾸기"},
	},
}

// loopOf has a model say a loop with a quote, and returns what was read.
func loopOf(t *testing.T, line, text string) outcome {
	t.Helper()
	evidence, err := json.Marshal([]map[string]any{{"line": 1, "quote": line}})
	if err != nil {
		t.Fatal(err)
	}
	answer := fmt.Sprintf(`{"loops": [{"status": "open", "due_at": null, "loop_text": %q, "confidence": 0.9, "evidence": %s}]}`, text, evidence)
	e, report, err := readEpisode(contract.ExtractInput{Model: "m", Episodes: []unit.EpisodeText{episode("e1", "2026-11-18", "user: "+line)}}, answer)
	return outcomeOf(found(e.Mentions, e.Claims), report, err)
}

// What a model says in its own words of a literal quote is taken in languages whose words have no blanks between them.
func TestParaphrasesAreTaken(t *testing.T) {
	t.Parallel()
	for language, all := range paraphrases {
		for _, p := range all {
			if got := loopOf(t, p[0], p[1]); len(got.Items) != 1 {
				t.Errorf("%s: %q of %q: %+v", language, p[1], p[0], got)
			}
		}
	}
}

// A name that the line does not have is refused beside whatever script it stands.
func TestParaphrasesWithAnInventedNameAreRefused(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{
		{"今日はUnityで開発を進めた。", "Unrealの開発をした。"},
		{"今日はUnityで開発を進めた。", "UnityとBlenderの開発をした。"},
		{"今天用Unity做开发。", "Unreal的开发工作"},
		{"今天用Unity做开发。", "用Unity和Blender做开发"},
		{"오늘은 Unity로 개발을 했다.", "Unreal의 개발"},
		{"次回、UnityのAnimator設計の続きを話しましょう。", "次回、UnityのShader設計の続きを話す"},
		{"JavaScriptを書いた。", "Javaを書いた"},
		{"iPhoneを買った。", "iPhoneとiPadの購入"},
		{"Windows11に更新した。", "Windows 12への更新"},
		{"ドイツへ旅行する。", "ドイツ・フランス旅行"},
		{"三つの案を作った。", "4つの案を作成"},
		{"Dann again we met.", "Anna met us again"},
	} {
		if got := loopOf(t, p[0], p[1]); len(got.Items) != 0 || got.Dropped[contract.ReasonInvented] != 1 {
			t.Errorf("%q of %q: %+v", p[1], p[0], got)
		}
	}
}
