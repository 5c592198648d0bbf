/** Other words that programs use for what a question asks about. */
import type { Concept } from '../search/codebase/question.ts';
import { stem } from '../search/codebase/terms.ts';

/** The concept with the words that mean the same, each with less weight. */
export function withSynonyms(concept: Concept): Concept {
  const wider = new Map(concept);
  for (const [variant, weight] of concept) {
    for (const other of OTHERS.get(variant) ?? OTHERS.get(germanStem(variant)) ?? []) {
      const own = weight * SYNONYM_WEIGHT;
      wider.set(other, Math.max(own, wider.get(other) ?? 0));
    }
  }
  return wider;
}

/** A word that another one stands for is weaker evidence than the word itself, and stronger than a beginning. */
const SYNONYM_WEIGHT = 0.5;

/** A German word without the ending of its form. */
export function germanStem(word: string): string {
  const base = word.replace(/(?:ungen|ung|en|ern|em|er|es|et|st|e|n|s|t)$/, '');
  return base.length < SHORTEST_BASE ? word : base;
}

const SHORTEST_BASE = 4;

/** Words of one line mean nearly the same. */
const GROUPS = `
abort cancel interrupt stop halt terminate kill
accept admit allow permit grant
acquire obtain take lock
add append insert push attach
adopt hydrate resume reuse
alert notify notification announce inform
allow whitelist allowlist permit
answer reply response respond result
argument parameter option setting preference
array list sequence collection items
assert check verify validate ensure
asset static file resource
async asynchronous promise deferred await
attempt try retry
authentication login signin authenticate credential password
authorization permission access privilege scope role
background worker thread job task daemon
backoff delay wait retry
balance distribute spread
batch bulk group queue coalesce
begin start init initialize boot launch open setup
bigger exceed larger limit max overflow
bind attach connect link associate
block deny forbid reject refuse disallow prevent ban
body payload content data
boundary limit edge bound
branch condition if conditional
break split divide separate chunk
browser client navigator dom
bug error fault defect
build compile bundle generate construct
cache memoize memo store remember
callback handler hook listener function
caller client consumer requester
catch handle trap rescue recover
certificate tls ssl https
change update modify mutate alter patch edit
character char letter
child descendant nested sub inner
choose select pick decide determine resolve
chunk piece part segment slice block
clean cleanup clear purge dispose teardown destroy release free
clone copy duplicate
close shutdown end finish stop dispose disconnect
collect gather aggregate accumulate
combine merge join concat compose
command instruction action
comment note annotation
compare diff equal difference match
compress gzip deflate brotli encoding zip
compute calculate derive evaluate
concurrent parallel simultaneous
condition predicate guard rule
connection socket link session
consume drain read
container wrapper holder
convert transform translate map cast coerce parse serialize
cookie session state
count number amount total size length
crash panic fail exception die
create make build construct new produce generate instantiate
custom user own
cycle circular loop recursive
damaged corrupt broken invalid
database storage db store persistence repository
date time timestamp clock
debounce throttle delay
decode decrypt unpack parse deserialize
default fallback initial preset
define declare register specify
delete remove drop erase discard unlink
dependency require import module
deprecated obsolete legacy old
descriptor handle fd
detect recognize find identify sniff guess infer
development dev debug
directory folder path
disable off turn suppress
display show render present print
document page view
download fetch pull get retrieve
draw render paint
drop discard ignore skip lose
element node tag item
emit fire dispatch trigger publish raise
empty blank null nothing
encode escape serialize stringify
encrypt cipher crypto
endpoint route path url
enqueue queue schedule push
environment env platform runtime
error failure exception problem fault throw
escape sanitize encode quote harmless
evict expire purge remove
event signal message notification
example sample demo
execute run invoke call perform
exit quit leave end
expand extend grow widen
expire ttl timeout lifetime maxage stale
extension plugin addon module
factory create builder
fallback default alternative
fast quick speed performance optimize
field property attribute member key
file document asset
filter sieve where select
find search lookup locate query match
finish complete done end finalize settle
flatten normalize
flag option switch toggle
forbid deny block forbidden
fork branch clone spawn
format pretty print style
forward proxy relay pass delegate
forged csrf forgery spoof
freeze lock immutable readonly
fresh stale etag conditional
full overflow limit
function method procedure handler callback
generic template
global shared static
gone missing deleted removed notfound
graph tree network
guard protect check
guess infer detect sniff
hash digest checksum
head header top
hide conceal mask redact
hook callback lifecycle interceptor middleware
host server domain machine
html markup template
identifier id name key uuid
ignore skip exclude omit
image picture photo
inherit extend parent prototype
inject provide dependency
input argument payload form field
inspect examine look check
install setup add
instance object
integer number int
interval period timer
invalid wrong bad malformed illegal
iterate loop each walk traverse foreach
key index id
kind type sort
language locale i18n lang translation
large big huge
lazy defer ondemand dynamic
leak memory retain
leave exit unmount
length size count
level depth
lifecycle hook mount unmount
limit max quota cap restrict bound
line row
link reference anchor href
listen subscribe observe watch listener
load read import fetch
lock mutex semaphore
log logger trace record print
loop iterate repeat for each cycle
mail email message smtp
map dictionary table record object
markup html template xml
match pattern regex regexp test
measure time timing metric benchmark
memory heap ram
merge combine mix assign extend
message text msg event
metadata info header
metric stat counter gauge telemetry monitor
middleware plugin handler filter
mime contenttype mediatype type
mirror copy replica
missing absent undefined notfound
mock fake stub simulate inject
move relocate transfer rename shift
multiple several many
name label title id
native builtin dom
nested deep inner recursive
network http socket net
number count integer numeric
observe watch track subscribe reactive
obsolete deprecated
once single
open connect start
option setting config preference argument
order sort sequence priority rank
origin domain host cors
output result print write
overload pressure load busy
override overwrite replace
owner parent
page paginate pagination next
parent ancestor owner
parse read decode tokenize
part range section piece
path route url location
pause suspend stop
percent ratio
performance speed profiling
permission access right acl
permitted allowed
persist save store
pick choose select
pipe stream forward
place position location
plugin extension module addon
point pointer reference
policy rule
poll check interval
pool connection reuse
port socket
prefix start base
prepare setup init
prevent avoid block protect
preview draft
print log output write
priority order weight
private internal hidden
process handle run
produce create emit
progress status percent
property attribute field prop
protect secure guard
protocol scheme http
proxy forward gateway
publish emit release
pull fetch
push send
queue batch buffer schedule pending
range partial bytes offset
rate throttle limit
raw plain
read parse get load
ready loaded
real actual
receive incoming get accept
reconnect retry
record log entry
recover restore rescue
recursive nested
redirect location moved follow
reduce shrink decrease
reference ref pointer link
refresh reload update
register add define declare install
reject refuse deny
release free publish version
reload hmr hot refresh
remember cache memoize store save
remove delete drop detach unregister
rename move
render draw display
reorder move sort
repeat retry loop again
replace swap substitute override
report log error warn
request req call query
reset clear restore
resize scale
resolve find lookup
resource asset
response reply res answer
restart reload
restore recover undo
restrict limit
result output value
retry attempt again backoff
return yield give
reuse pool share cache
reverse invert undo
revert rollback undo
rewrite transform replace
role permission
root base top
route router path endpoint url
rule policy constraint
run execute start
safe secure
same equal identical
sample example
save store persist write
scan search walk
schedule queue timer defer cron
schema model validation shape structure
scope context realm namespace encapsulate
scroll position
search find query lookup
secret key password token
secure safe tls encrypt
select choose pick query
send transmit write emit post deliver
separate split
sequence order series chain
serialize stringify encode dump
server host backend listen
session login cookie
set assign put
setting option config
settle resolve reject
setup init configure
share common
shape schema type structure
shortcut alias helper
shutdown close stop terminate
sign signature hmac verify
signal event abort
simulate mock inject fake
single one only
size length bytes
skip ignore bypass omit
slash path
sleep wait delay
slot children placeholder
slow timeout late delay
snapshot copy dump
socket connection websocket
sort order
source origin src
space whitespace trim
spawn fork start
special reserved
split divide separate
stack trace
stale dirty outdated expired
start begin
state store status
statistics stats metric
status state code
stop end cancel
store save
stream pipe chunk flow
strict exact
string text
style css
subscribe listen observe
subset part
substitute replace
suffix end extension
support enable
suspend pause
swap replace exchange
switch toggle change
symbol token name
sync synchronize
table map
tag element label
target destination
task job work
temporary temp tmp
terminal console tty cli
test spec
text string content
throw raise error
ticket token
timeout deadline expire abort
tick flush microtask
timer interval clock schedule
title name heading
toggle switch
token jwt credential
tokenize lexer split scan
trace log track
track watch follow observe
transaction commit
transform convert map
transition animation animate
translate map
transmit send
traverse walk visit
tree node vnode hierarchy
trigger fire
trim strip
truncate cut
trust secure
type kind
undo revert
unique distinct dedupe
unload unmount
unlock release
unmount destroy remove
unsafe danger
unused dead
update change patch refresh rerender
upgrade update
upload multipart form file
uri url
url address link uri href
user account
validate check schema verify
value val
variable var
vendor third
verify check
version release
view page template
virtual vdom vnode
visible shown
visit walk
visitor client user remote
wait delay sleep pending
walk traverse
warn warning
watch observe
weight priority
window viewport
wrap decorate
write save
yield generate
`;

/** The words before the sign are how people say it; those behind it are what programs write. */
const PLAIN = `
squeeze shrink smaller > compress minify
tongue > language locale
address > ip url host remote
permitted > limit allowed
forged > csrf
embedding embed > frame
moved > redirect
ahead > static ssg prerender
harmless > escape
carry > pass transfer
`;

const GERMAN = `
abbrechen abgebrochen abbruch > cancel abort
abfrage anfrage anfragen > request query
ablauf ablaufen > expire timeout
abhängigkeit > dependency
anmelden anmeldung einloggen > login auth signin
antwort antworten > response reply
anzeigen anzeige > display show render
aufruf aufrufen > call invoke
ausgabe ausgeben > output print
ausführen > run execute
auswahl auswählen > select choose
bearbeiten > edit handle
bedingung > condition
benutzer nutzer > user account
berechnen berechnung > compute calculate
berechtigung > permission authorization
bild > image
datei > file
datenbank > database db
daten > data
drucken > print
eigenschaft > property attribute
eingabe > input
einstellung einstellungen > setting option config
ereignis > event
erstellen erzeugen anlegen > create make
fehler > error failure
fenster > window
feld > field
funktion > function
gerät > device
größe > size length
grenze > limit bound
gültig ungültig > valid invalid validate
hinzufügen > add append
hochladen > upload
inhalt > content body
kopf kopfzeile > header
kopieren > copy clone
laden geladen > load fetch
lebenszyklus > lifecycle
leeren > clear
lesen gelesen > read parse
liste > list array
löschen gelöscht entfernen > delete remove
nachricht > message
name > name
ordner verzeichnis > directory folder
passwort kennwort > password credential
pfad > path route
prüfen geprüft prüfung > check verify validate
puffer > buffer
registrieren registriert > register
rechnung > invoice bill
reihenfolge > order sort
schließen > close
schlüssel > key
schreiben > write
seite > page
senden gesendet schicken > send
sichern speichern gespeichert > save store persist
signieren signiert > sign
sitzung > session
sortieren > sort
sprache > language locale
starten > start
suchen suche > search find
testen > test
übersetzen übersetzung > compile translate
umleiten weiterleiten > redirect forward
umwandeln > convert transform
verbindung verbinden > connection connect
vergleichen vergleich > compare diff
verschlüsseln > encrypt
verschieben > move
version > version
verzögerung warten > delay wait
wert > value
wiederholen > retry repeat
zeit > time
zeile > line
zeitüberschreitung > timeout
zugriff > access
zustand > state
zwischenspeicher > cache
`;

const OTHERS = tableOf();

function tableOf(): ReadonlyMap<string, ReadonlySet<string>> {
  const table = new Map<string, Set<string>>();
  const add = (word: string, other: string) => {
    if (word === other) return;
    table.set(word, (table.get(word) ?? new Set()).add(other));
  };
  for (const line of GROUPS.trim().split('\n')) {
    const stems = line.split(' ').map(stem);
    for (const word of stems) for (const other of stems) add(word, other);
  }
  for (const line of `${PLAIN.trim()}\n${GERMAN.trim()}`.split('\n')) {
    const [from = [], to = []] = line.split('>').map((side) => side.trim().split(' '));
    for (const word of from) {
      for (const other of to) {
        add(stem(word), stem(other));
        add(germanStem(word), stem(other));
      }
    }
  }
  return table;
}
