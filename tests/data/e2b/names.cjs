// Every name is this machine's: there is no DNS for a sandbox that did not exist a moment ago.
const dns = require("dns");
dns.lookup = (name, options, callback) => {
  const done = callback ?? options;
  if (options.all) done(null, [{ address: "127.0.0.1", family: 4 }]);
  else done(null, "127.0.0.1", 4);
};
