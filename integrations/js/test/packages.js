// Finds the packages that the adapters are for in the folder KIOKU_JS_PACKAGES: node --import ./test/packages.js --test
import {register} from 'node:module';
import {pathToFileURL} from 'node:url';

const elsewhere = pathToFileURL(`${process.env.KIOKU_JS_PACKAGES}/package.json`).href;
register(`data:text/javascript,${encodeURIComponent(`
  export async function resolve(specifier, context, next) {
    try {
      return await next(specifier, context);
    } catch (err) {
      if (err.code !== 'ERR_MODULE_NOT_FOUND' || /^[./]|^file:/.test(specifier)) throw err;
      return next(specifier, {...context, parentURL: ${JSON.stringify(elsewhere)}});
    }
  }
`)}`);
