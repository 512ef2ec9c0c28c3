package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
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
	// evictAnswersSQL deletes the answers that were used longest ago, those about episodes that are in the index last.
	evictAnswersSQL = `DELETE FROM llm_cache WHERE id IN (SELECT c.id FROM llm_cache c
		ORDER BY EXISTS (SELECT 1 FROM json_each(c.episodes) j CROSS JOIN payload_episode p ON p.uid = j.value), c.used, c.id LIMIT ?)`
)

// CachedAnswer implements Store. An answer without its checksum counts as unknown.
func (d *Store) CachedAnswer(ctx context.Context, contract, model string, input [32]byte) (string, error) {
	var answer string
	var id, used int64
	var sum []byte
	_, err := read(ctx, d, func(tx *sql.Tx) (struct{}, error) {
		return struct{}{}, tx.QueryRowContext(ctx, "SELECT id, response, sha256, used FROM llm_cache WHERE input_sha256 = ? AND contract = ? AND model = ?",
			input[:], contract, model).Scan(&id, &answer, &sum, &used)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look up an answer: %w", err)
	}
	if want := sha256.Sum256([]byte(answer)); string(want[:]) != string(sum) {
		return "", nil
	}
	if now := d.now(); now.Sub(jobTime(used)) > time.Hour && !d.opt.ReadOnly {
		if _, err := d.change(ctx, "UPDATE llm_cache SET used = ? WHERE id = ?", now.UnixMicro(), id); err != nil {
			return "", fmt.Errorf("look up an answer: %w", err)
		}
	}
	return answer, nil
}

// PutAnswer implements Store. It caches no answer about an episode that says what a person has had forgotten. The cache is
// bounded to 64 MiB: the answers that were used longest ago go first, and those about episodes that are in the index last.
func (d *Store) PutAnswer(ctx context.Context, contract, model string, input [32]byte, answer string, episodes []string, tokensIn, tokensOut int) error {
	return d.putAnswer(ctx, maxAnswerBytes, contract, model, input, answer, episodes, tokensIn, tokensOut)
}

// putAnswer implements PutAnswer with a bound.
func (d *Store) putAnswer(ctx context.Context, bound int, contract, model string, input [32]byte, answer string, episodes []string, tokensIn, tokensOut int) error {
	list, err := jsonList(notNil(episodes))
	if err != nil {
		return err
	}
	err = d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		forgotten, err := queryInt(ctx, tx, `SELECT count(*) FROM json_each(?) j CROSS JOIN payload_episode p ON p.uid = j.value
			WHERE p.forgotten = 1`, list)
		if err != nil || forgotten > 0 {
			return err
		}
		sum := sha256.Sum256([]byte(answer))
		if _, err := tx.ExecContext(ctx, insertAnswer, contract, model, input[:], answer, sum[:], len(answer), list, tokensIn, tokensOut, d.now().UnixMicro()); err != nil {
			return err
		}
		for {
			size, err := queryInt(ctx, tx, "SELECT coalesce(sum(size), 0) FROM llm_cache")
			if err != nil || size <= bound {
				return err
			}
			if err := execAll(ctx, tx, []any{evictAnswers}, evictAnswersSQL); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("cache an answer: %w", err)
	}
	return nil
}

// hourLayout is the layout of hours in llm_usage.
const hourLayout = "2006-01-02T15"

// Reserve implements Store. The day and the hour are those of the location of now. A reservation that is never settled, because
// the process died, counts until the day ends.
func (d *Store) Reserve(ctx context.Context, now time.Time, model, purpose string, tokens, maxTokens, maxCalls int) (bool, error) {
	reserved := false
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		day, hour := now.Format(time.DateOnly), now.Format(hourLayout)
		used, err := queryInt(ctx, tx, "SELECT coalesce(sum(tokens_in + tokens_out + reserved), 0) FROM llm_usage WHERE day = ?", day)
		if err != nil {
			return err
		}
		calls, err := queryInt(ctx, tx, "SELECT coalesce(sum(calls), 0) FROM llm_usage WHERE day = ? AND hour = ?", day, hour)
		if err != nil {
			return err
		}
		if reserved = used+tokens <= maxTokens && calls < maxCalls; !reserved {
			return nil
		}
		return execAll(ctx, tx, []any{day, hour, model, purpose, tokens}, `INSERT INTO llm_usage (day, hour, model, purpose, calls, tokens_in, tokens_out, reserved)
			VALUES (?, ?, ?, ?, 1, 0, 0, ?) ON CONFLICT DO UPDATE SET calls = calls + 1, reserved = reserved + excluded.reserved`)
	})
	if err != nil {
		return false, fmt.Errorf("reserve tokens: %w", err)
	}
	return reserved, nil
}

// Settle implements Store. The tokens count on the day on which they were reserved.
func (d *Store) Settle(ctx context.Context, now time.Time, model, purpose string, reserved, tokensIn, tokensOut int) error {
	n, err := d.change(ctx, `UPDATE llm_usage SET reserved = reserved - ?3, tokens_in = tokens_in + ?4, tokens_out = tokens_out + ?5
		WHERE id = (SELECT id FROM llm_usage WHERE model = ?1 AND purpose = ?2 AND reserved >= ?3 ORDER BY hour DESC LIMIT 1)`,
		model, purpose, reserved, tokensIn, tokensOut)
	if err == nil && n == 0 { // the row is gone with a damaged index
		_, err = d.change(ctx, `INSERT INTO llm_usage (day, hour, model, purpose, calls, tokens_in, tokens_out, reserved) VALUES (?, ?, ?, ?, 1, ?, ?, 0)
			ON CONFLICT DO UPDATE SET tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out`,
			now.Format(time.DateOnly), now.Format(hourLayout), model, purpose, tokensIn, tokensOut)
	}
	if err != nil {
		return fmt.Errorf("settle tokens: %w", err)
	}
	return nil
}
