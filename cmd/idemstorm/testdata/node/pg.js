// A small PostgreSQL client for the test service: extended protocol, MD5 passwords, a pool. A real service would use the pg package.
const net = require('node:net')
const { createHash } = require('node:crypto')

const md5 = (...parts) => createHash('md5').update(Buffer.concat(parts.map((p) => Buffer.from(p)))).digest('hex')
const text = (s) => Buffer.concat([Buffer.from(s), Buffer.from([0])])
const int32 = (n) => { const b = Buffer.alloc(4); b.writeInt32BE(n); return b }
const int16 = (n) => { const b = Buffer.alloc(2); b.writeInt16BE(n); return b }
const message = (type, ...parts) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

class Connection {
  constructor(url) {
    this.user = decodeURIComponent(url.username)
    this.password = decodeURIComponent(url.password)
    this.rest = Buffer.alloc(0)
    this.busy = { rows: [], columns: [], resolve: null, reject: null, error: null }
    this.ready = new Promise((resolve, reject) => { this.busy.resolve = resolve; this.busy.reject = reject })
    this.socket = net.connect(Number(url.port), url.hostname, () => {
      const body = Buffer.concat([int32(196608), text('user'), text(this.user), text('database'), text(url.pathname.slice(1)), Buffer.from([0])])
      this.socket.write(Buffer.concat([int32(body.length + 4), body]))
    })
    this.socket.setNoDelay(true)
    this.socket.on('data', (data) => this.read(data))
    this.socket.on('error', (err) => this.end(err))
    this.socket.on('close', () => this.end(new Error('connection closed')))
  }

  end(err) {
    this.dead = true
    if (this.busy) { this.busy.reject(err); this.busy = null }
  }

  read(data) {
    this.rest = Buffer.concat([this.rest, data])
    while (this.rest.length >= 5) {
      const size = this.rest.readInt32BE(1) + 1
      if (this.rest.length < size) return
      const body = this.rest.subarray(5, size)
      const type = String.fromCharCode(this.rest[0])
      this.rest = this.rest.subarray(size)
      this.handle(type, body)
    }
  }

  handle(type, body) {
    if (type === 'R' && body.readInt32BE(0) === 5) {
      const salted = md5(md5(this.password, this.user), body.subarray(4, 8))
      this.socket.write(message('p', text('md5' + salted)))
    } else if (type === 'D') {
      this.busy.rows.push(this.row(body))
    } else if (type === 'E') {
      this.busy.error = new Error(body.toString().split('\0').map((f) => f.slice(1)).join(' '))
      this.busy.error.code = /\0C([0-9A-Z]{5})\0/.exec('\0' + body.toString())?.[1]
    } else if (type === 'Z') {
      const done = this.busy
      this.busy = null
      if (done) done.error ? done.reject(done.error) : done.resolve(done.rows)
    }
  }

  row(body) {
    const values = []
    for (let at = 2, n = body.readInt16BE(0); n > 0; n--) {
      const size = body.readInt32BE(at)
      values.push(size < 0 ? null : body.toString('utf8', at + 4, at + 4 + size))
      at += 4 + Math.max(size, 0)
    }
    return values
  }

  query(sql, params = []) {
    const values = params.map((p) => { const b = Buffer.from(String(p)); return Buffer.concat([int32(b.length), b]) })
    this.socket.write(Buffer.concat([
      message('P', text(''), text(sql), int16(0)),
      message('B', text(''), text(''), int16(0), int16(params.length), ...values, int16(0)),
      message('E', text(''), int32(0)),
      message('S'),
    ]))
    return new Promise((resolve, reject) => { this.busy = { rows: [], resolve, reject, error: null } })
  }
}

class Pool {
  constructor(url, size) { this.url = new URL(url); this.free = []; this.waiting = []; this.left = size }

  async take() {
    const idle = this.free.pop()
    if (idle && !idle.dead) return idle
    if (idle) this.left++
    if (this.left === 0) return new Promise((resolve) => this.waiting.push(resolve)).then((c) => c.dead ? (this.left++, this.take()) : c)
    this.left--
    const connection = new Connection(this.url)
    try { await connection.ready } catch (err) { this.left++; throw err }
    return connection
  }

  give(connection) {
    const next = this.waiting.shift()
    if (next) next(connection)
    else this.free.push(connection)
  }

  async query(sql, params) {
    return this.with((connection) => connection.query(sql, params))
  }

  async with(work) {
    const connection = await this.take()
    try { return await work(connection) } finally { this.give(connection) }
  }

  async transaction(work) {
    return this.with(async (connection) => {
      await connection.query('BEGIN')
      try {
        const result = await work(connection)
        await connection.query('COMMIT')
        return result
      } catch (err) {
        if (!connection.dead) await connection.query('ROLLBACK')
        throw err
      }
    })
  }
}

module.exports = { Pool }
