/** Other words that programs use for what a question asks about. */
import type { Concept } from './search/codebase/question.ts';
import { stem } from './search/codebase/terms.ts';

/** The concept with the words that mean the same, each with less weight. */
export function withSynonyms(concept: Concept): Concept {
  const wider = new Map(concept);
  const [word] = concept.keys();
  for (const [variant, weight] of concept) {
    const parts = variant === word ? partsOf(word) : [];
    for (const other of othersOf(variant) ?? parts) {
      const own = weight * SYNONYM_WEIGHT;
      wider.set(other, Math.max(own, wider.get(other) ?? 0));
    }
  }
  return wider;
}

function othersOf(word: string): ReadonlySet<string> | undefined {
  return OTHERS.get(word) ?? OTHERS.get(germanStem(word));
}

/** What the parts of a German compound stand for: `zielserver` gives target, destination, host and more. */
function partsOf(word: string): readonly string[] {
  for (let at = word.length - SHORTEST_BASE; at >= SHORTEST_BASE; at--) {
    const head = germanStem(word.slice(0, at).replace(/e?[ns]$/, ''));
    const ofTail = othersOf(word.slice(at));
    if (ofTail && GERMAN_STEMS.has(head)) return [...(othersOf(head) ?? []), ...ofTail];
  }
  return [];
}

/** A word that another one stands for is weaker evidence than the word itself, and stronger than a beginning. */
const SYNONYM_WEIGHT = 0.5;

/** A German word without the ending of its form. */
function germanStem(word: string): string {
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
abfangen > catch intercept
abfrage anfrage anfragen > request query
abgleich abgleichen > compare sync match
abhängigkeit > dependency
abhören > listen
ablauf ablaufen > expire timeout
ablehnen abgelehnt > reject refuse deny
ableiten > derive extend
abmelden > logout unsubscribe
abschluss abschließen > finish complete end
abschnitt > section part range
absender > sender from
absturz abstürzen > crash
adresse > address url
aktualisieren > update refresh
anbieter > provider vendor
anfang anfangen > start begin
anhang anhängen anfügen > append attach attachment
anmelden anmeldung einloggen > login auth signin
annehmen angenommen > accept
anpassen > adapt adjust
antwort antworten > response reply
anwendung > application app
anzahl > count number
anzeigen anzeige > display show render
aufbau aufbauen > build establish setup connect
aufgabe > task job
aufruf aufrufen > call invoke
aufräumen > cleanup clear dispose
auftrag > job order task
aufzeichnen > record log
ausdruck > expression
ausführen > run execute
ausgabe ausgeben > output print
auslassen > skip omit
auslösen ausgelöst > trigger emit fire throw
ausnahme > exception
ausschließen > exclude
auswahl auswählen > select choose
auswerten auswertung > evaluate aggregate analyze
baum > tree
bearbeiten > edit handle
bedingung > condition
beenden beendet > end stop exit close finish
befehl > command
begrenzen begrenzung > limit
behalten > keep retain
beispiel > example
benachrichtigen benachrichtigung > notify notification
benutzer nutzer > user account
berechnen berechnung > compute calculate
berechtigung > permission authorization
bericht > report
beschränken > restrict limit
bestätigen bestätigung > confirm acknowledge
bibliothek > library
bild > image
blatt > leaf sheet
breite > width
darstellen darstellung > render display format
datei > file
daten > data
datenbank > database db
datensatz > record row document
datum > date
dienst > service
doppelt duplikat > duplicate
drosseln > throttle
drucken > print
durchlaufen > iterate traverse walk
ebene > level layer
eigen > own custom
eigenschaft > property attribute
einbinden > include import embed
einfügen > insert
eingabe > input
eingebaut > builtin native
einheit > unit
einlesen > read parse
einstellung einstellungen > setting option config
eintrag eintragen > entry add register
empfangen empfänger > receive recipient
entpacken > unpack decompress extract
entscheiden entschieden > decide choose
entwickler > developer
entwicklung > development
ereignis > event
ergebnis > result
erhalten > get receive
erkennen erkannt > detect recognize
erlauben erlaubt > allow permit
erneuern erneut > renew retry refresh
ersetzen ersetzt > replace
erstellen erzeugen anlegen > create make
erwarten erwartet > expect await
erweitern erweiterung > extend extension plugin
erzwingen > force enforce
farbe > color
fehler > error failure
fehlschlagen fehlgeschlagen > fail
feld > field
fenster > window
fertig > ready done finish
festlegen festgelegt > set define
feststellen > detect determine
fortschritt > progress
fortsetzen > resume continue
frist > deadline timeout expire
funktion > function
geheim geheimnis > secret
gemeinsam > shared common
gerät > device
gleich > equal same
gleichzeitig > concurrent parallel
grenze > limit bound
gruppe > group
größe > size length
gültig ungültig > valid invalid validate
herunterfahren > shutdown
herunterladen > download
hintergrund > background
hinweis > hint note warning
hinzufügen > add append
hochladen > upload
höhe > height
inhalt > content body
kennung > id identifier
klasse > class
knoten > node
komprimieren komprimiert > compress gzip
konto > account
kopf kopfzeile > header
kopieren > copy clone
laden geladen > load fetch
laufzeit > runtime
lebenszyklus > lifecycle
leer > empty blank
leeren > clear
lesen gelesen > read parse
liste > list array
länge > length size
löschen gelöscht entfernen > delete remove
mehrere > multiple
meldung melden > message report warn
menge > set amount quota
merken > remember cache store
methode > method
modell > model
nachricht > message
name > name
nebenläufig > concurrent
netz netzwerk > network
nutzlast > payload
oberfläche > interface ui
ordner verzeichnis > directory folder
paket > package packet bundle
passwort kennwort > password credential
pfad > path route
platzhalter > placeholder
protokoll > protocol log
prüfen geprüft prüfung > check verify validate
puffer > buffer
quelle > source origin
rahmen > frame
rand > border edge
rechnung > invoice bill
recht rechte > permission right
regel > rule
registrieren registriert > register
reihenfolge > order sort
rückgabe > return
rückgängig > undo revert rollback
sammeln sammlung > collect collection
schalter > switch flag
schicht > layer
schleife > loop
schließen > close
schlüssel > key
schnittstelle > interface api
schreiben > write
schritt > step
schutz schützen geschützt > protect guard
seite > page
senden gesendet schicken > send
sicher sicherheit > secure safe security
sichern speichern gespeichert > save store persist
sicherung > backup
sichtbar > visible
signieren signiert > sign
sitzung > session
sortieren > sort
spalte > column
speicher > memory storage store
sperre sperren gesperrt > lock block
sprache > language locale
stapel > stack batch
starten > start
stelle > position place
steuern steuerung > control
strom > stream
stufe > stage level
suchen suche > search find
tabelle > table
taste > key
teil teilen > part split share
testen > test
thema > topic theme
trennen getrennt > split separate disconnect
umbenennen > rename
umgebung > environment env
umgehen > bypass
umleiten weiterleiten > redirect forward
umwandeln > convert transform
unbenutzt ungenutzt > unused
unerlaubt > illegal invalid forbidden
unterbrechen unterbrochen > interrupt pause abort
unterschied > difference diff
unterstützen > support
ursprung ursprünglich > origin original
veraltet > stale deprecated outdated
verarbeiten verarbeitung > process handle
verbergen verstecken > hide
verbieten verboten > forbid deny
verbindung verbinden > connection connect
verfallen > expire
verfolgen > track trace
vergleichen vergleich > compare diff
verlassen > leave exit
verlust verlieren verloren > loss lose
vermeiden > avoid prevent
verschieben > move
verschlüsseln > encrypt
version > version
verteilen verteilung > distribute balance
vertrauen > trust
verwalten verwaltung > manage
verweis verweisen > reference link
verwerfen verworfen > discard drop
verzweigung > branch
verzögerung warten > delay wait
vorbereiten vorbereitung > prepare
vordergrund > foreground
vorgabe > default
vorlage schablone > template
vorschau > preview
warnung > warning warn
warteschlange > queue
weiter > next continue
werkzeug > tool
wert > value
wiederherstellen > restore recover
wiederholen > retry repeat
wiederverwenden > reuse
zahl > number
zeichen > character char sign
zeichenkette > string
zeiger > pointer
zeile > line
zeit > time
zeitstempel > timestamp
zeitüberschreitung > timeout
zerlegen zerlegt > parse split
ziel > target destination
zufall zufällig > random
zugang > access
zugriff > access
zuordnen zuordnung > map assign
zurück > back return
zurücksetzen > reset
zusammenfassen zusammenführen > merge combine group aggregate
zustand > state
zuweisen > assign allocate
zwischenspeicher > cache
zählen zähler > count counter
ändern änderung geändert > change modify update
öffnen > open
übergeben übertragen übertragung > pass transfer transmit
überprüfen überprüfung > check verify
überschreiben > override overwrite
übersetzen übersetzung > compile translate
überspringen übersprungen > skip
überwachen > watch monitor
`;

/** Of the words on the left. */
const GERMAN_STEMS: ReadonlySet<string> = new Set(
  GERMAN.trim()
    .split('\n')
    .flatMap((line) => line.replace(/ >.*/, '').split(' ').map(germanStem)),
);

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
