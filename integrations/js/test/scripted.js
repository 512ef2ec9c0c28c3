/** A scripted model that stores in a flush each text it was shown that the user said and it knows, and makes summaries of nothing else. */
export class ScriptedModel {
  /** @param {string[]} known Texts that it stores. */
  constructor(known = []) {
    this.known = known;
    /** What it was asked, in order. */
    this.asked = [];
  }

  ask = async (question) => {
    this.asked.push(question);
    const {messages, tools} = question;
    if (tools.length === 0) return {text: summaryOf(messages)};
    if (messages.at(-1).role === 'tool') return {text: 'NO_REPLY'};
    const shown = messages.filter((m) => m.role === 'user').map((m) => m.text).join('\n');
    const found = this.known.filter((text) => shown.includes(text));
    return {text: '', toolCalls: found.map((text, i) => ({id: `n${this.asked.length}.${i}`, name: tools[0].name, input: {text, category: 'fact'}}))};
  };
}

/** A summary with the identifiers that a compaction must keep, which it takes from the question. */
function summaryOf(messages) {
  return `They talked about ordinary things.\n\n${messages.at(-1).text.slice(-2000)}`;
}
