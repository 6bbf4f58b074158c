// A hook client as a script for node: the event is read, sent on, and the answer printed.
const net = require("node:net");
const event = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const socket = net.createConnection({ path: process.argv[2], allowHalfOpen: true });
let said = "";
socket.on("data", (piece) => { said += piece; });
socket.on("end", () => { process.stdout.write(said); socket.end(); });
socket.end(JSON.stringify(event));
