// What a program in TypeScript sees: tsc -p test checks it, nothing runs it.
import {connect, KiokuError, type Session} from '@kioku/client';

const kioku = connect({target: 'unix:/tmp/kioku.sock', agent: 'main'});
const {results} = await kioku.search('x', {maxResults: 3, filter: [{field: 'tags', values: ['a']}]});
const path: string = results[0].path;
const line: number = (await kioku.append('x', {category: 'fact'})).startLine;
const session: Session = kioku.session('s', {ask: async ({system, messages}) => ({text: `${system} ${messages.length} ${path} ${line}`})});
const turn = await session.before([{role: 'user', text: 'x'}], {projectedTokens: 5});
const summary: string | undefined = turn.summary?.text;
(await kioku.sync()).index.fileCount satisfies number;
const problemOf = (err: unknown): string | undefined => (err instanceof KiokuError ? err.fields[0]?.problem ?? summary : undefined);
problemOf(undefined);

// @ts-expect-error there is no such option
await kioku.search('x', {maxResult: 3});
// @ts-expect-error a path is a text
results[0].path satisfies number;
// @ts-expect-error a text is a text
await session.before([{role: 'user', text: 5}]);
