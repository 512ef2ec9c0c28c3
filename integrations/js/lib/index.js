export {connect, Kioku} from './client.js';
export {KiokuError} from './errors.js';
export {Session} from './session.js';
