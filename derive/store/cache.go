package store

import (
	"context"
	"crypto/sha256"
	"time"
)

const (
	// maxAnswerBytes bounds the cached answers of models.
	maxAnswerBytes = 64 << 20
	// evictAnswers is how many answers are evicted at a time.
	evictAnswers = 16

	insertAnswer = `INSERT INTO llm_cache (contract, model, input_sha256, response, sha256, size, episodes, tokens_in, tokens_out, used)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET response = excluded.response, sha256 = excluded.sha256,
		size = excluded.size, episodes = excluded.episodes, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out, used = excluded.used`
	// evictAnswersSQL deletes the answers that were used longest ago, those about episodes that there are last.
	evictAnswersSQL = `DELETE FROM llm_cache WHERE id IN (SELECT c.id FROM llm_cache c
		ORDER BY EXISTS (SELECT 1 FROM json_each(c.episodes) j CROSS JOIN payload_episode p ON p.uid = j.value), c.used, c.id LIMIT ?)`
)

// CachedAnswer returns the answer of a model to an exact input, "" if it is not known. An answer without its checksum counts as unknown.
func (d *Store) CachedAnswer(ctx context.Context, contract, model string, input [32]byte) (answer string, err error) {
	const step = "look up an answer"
	var id int64
	var used time.Time
	var sum hash
	known := false
	err = d.read(ctx, step, func(t *txn) {
		known = t.get("SELECT id, response, sha256, used FROM llm_cache WHERE input_sha256 = ? AND contract = ? AND model = ?",
			[]any{input[:], contract, model}, &id, &answer, &sum, instant{&used})
	})
	if err != nil || !known || sha256.Sum256([]byte(answer)) != sum {
		return "", err
	}
	if now := d.now(); now.Sub(used) > time.Hour && !d.opt.ReadOnly {
		err = d.write(ctx, step, func(t *txn) { t.exec("UPDATE llm_cache SET used = ? WHERE id = ?", now.UnixMicro(), id) })
	}
	return answer, err
}

// PutAnswer caches an answer, unless it is about an episode that says what a person has had forgotten. episodes are the UIDs of those that it is
// about. The cache is bounded to 64 MiB: the answers that were used longest ago go first, and those about episodes that there are last.
func (d *Store) PutAnswer(ctx context.Context, contract, model string, input [32]byte, answer string, episodes []string, tokensIn, tokensOut int) error {
	return d.write(ctx, "cache an answer", func(t *txn) {
		list := array(episodes)
		if t.number("SELECT count(*) FROM json_each(?) j CROSS JOIN payload_episode p ON p.uid = j.value WHERE p.forgotten = 1", list) > 0 {
			return
		}
		sum := sha256.Sum256([]byte(answer))
		t.exec(insertAnswer, contract, model, input[:], answer, sum[:], len(answer), list, tokensIn, tokensOut, d.now().UnixMicro())
		for t.number("SELECT coalesce(sum(size), 0) FROM llm_cache") > maxAnswerBytes {
			t.exec(evictAnswersSQL, evictAnswers)
		}
	})
}

// hourLayout is the layout of hours in llm_usage.
const hourLayout = "2006-01-02T15"

// Reserve reserves tokens of a day's budget, which all processes share; it returns false if they exceed maxTokens, or the calls of this
// hour exceed maxCalls. The day and the hour are those of the location of now. A reservation that is never settled, because the process
// died, counts until the day ends.
func (d *Store) Reserve(ctx context.Context, now time.Time, model, purpose string, tokens, maxTokens, maxCalls int) (reserved bool, err error) {
	err = d.write(ctx, "reserve tokens", func(t *txn) {
		day, hour := now.Format(time.DateOnly), now.Format(hourLayout)
		used := t.number("SELECT coalesce(sum(tokens_in + tokens_out + reserved), 0) FROM llm_usage WHERE day = ?", day)
		calls := t.number("SELECT coalesce(sum(calls), 0) FROM llm_usage WHERE day = ? AND hour = ?", day, hour)
		if reserved = used+tokens <= maxTokens && calls < maxCalls; reserved {
			t.exec(`INSERT INTO llm_usage (day, hour, model, purpose, calls, tokens_in, tokens_out, reserved)
				VALUES (?, ?, ?, ?, 1, 0, 0, ?) ON CONFLICT DO UPDATE SET calls = calls + 1, reserved = reserved + excluded.reserved`,
				day, hour, model, purpose, tokens)
		}
	})
	return reserved && err == nil, err
}

// Settle replaces a reservation by what was used. The tokens count on the day on which they were reserved.
func (d *Store) Settle(ctx context.Context, now time.Time, model, purpose string, reserved, tokensIn, tokensOut int) error {
	return d.write(ctx, "settle tokens", func(t *txn) {
		n := t.exec(`UPDATE llm_usage SET reserved = reserved - ?3, tokens_in = tokens_in + ?4, tokens_out = tokens_out + ?5
			WHERE id = (SELECT id FROM llm_usage WHERE model = ?1 AND purpose = ?2 AND reserved >= ?3 ORDER BY hour DESC LIMIT 1)`,
			model, purpose, reserved, tokensIn, tokensOut)
		if n == 0 { // the row is gone with a damaged file
			t.exec(`INSERT INTO llm_usage (day, hour, model, purpose, calls, tokens_in, tokens_out, reserved) VALUES (?, ?, ?, ?, 1, ?, ?, 0)
				ON CONFLICT DO UPDATE SET tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out`,
				now.Format(time.DateOnly), now.Format(hourLayout), model, purpose, tokensIn, tokensOut)
		}
	})
}
